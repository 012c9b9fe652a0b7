"""The word lists from which headlines and paragraphs are made; every theme has its own vocabulary."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The words of one section; verbs are transitive and in the past."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _theme(nouns: str, verbs: str, adjectives: str) -> Theme:
    return Theme(_words(nouns), _words(verbs), _words(adjectives))


THEMES: dict[str, Theme] = {
    "breaking": _theme(
        "fire flood rescue blast alarm evacuation crash storm outage police suspect witness search siren"
        " ambulance shelter bridge tunnel warning emergency helicopter patrol accident collapse hostage arrest"
        " convoy barrier smoke debris landslide tremor crew roadblock hotline victim",
        "evacuated halted closed rescued injured blocked sealed stopped searched destroyed damaged reopened freed"
        " contained",
        "sudden severe unconfirmed fatal massive local overnight burning stranded missing armed urgent narrow fresh",
    ),
    "world": _theme(
        "treaty border embassy envoy summit ceasefire refugee sanction ambassador army rebel minister alliance"
        " visa truce delegation convoy province capital exile coup parliament peacekeeper garrison frontier aid"
        " famine monsoon passport consulate regime dissident accord mission neighbour corridor",
        "signed rejected condemned crossed shelled negotiated recognised expelled recalled deployed welcomed"
        " suspended brokered ratified",
        "foreign diplomatic disputed humanitarian bilateral fragile exiled eastern coastal landlocked sovereign"
        " tense regional occupied",
    ),
    "politics": _theme(
        "bill vote senate coalition ballot budget amendment cabinet poll mandate opposition caucus lobby reform"
        " debate committee constituency referendum manifesto whip motion veto speaker deputy campaign donor pledge"
        " inquiry scandal majority electorate chancellor resignation statute ombudsman quorum",
        "approved vetoed debated postponed amended defended opposed tabled repealed passed proposed criticised"
        " endorsed blocked",
        "parliamentary liberal conservative federal electoral contested marginal partisan legislative procedural"
        " independent narrow populist constitutional",
    ),
    "business": _theme(
        "share profit merger bank bond dividend quarter investor inflation loan factory tariff export deficit"
        " revenue retailer supplier auditor currency pension startup takeover stake index warehouse payroll"
        " creditor earnings shareholder subsidy commodity refinery insurer mortgage bankruptcy invoice",
        "acquired raised cut sold financed forecast merged floated downgraded outsourced restructured hedged"
        " refunded audited",
        "quarterly fiscal profitable listed wholesale bullish sluggish overseas corporate leveraged record pretax"
        " domestic volatile",
    ),
    "sport": _theme(
        "goal match coach league penalty striker final stadium season defender tournament referee medal relay"
        " sprint keeper midfield squad champion transfer semifinal podium injury derby fixture kickoff captain"
        " trophy marathon set innings serve qualifier rival substitute scoreline",
        "beat won scored signed lost defended equalised saved coached dropped outplayed trained booked celebrated",
        "unbeaten injured veteran olympic defensive dramatic late away home reigning amateur undefeated decisive"
        " junior",
    ),
    "science": _theme(
        "telescope genome vaccine particle fossil orbit enzyme asteroid experiment laboratory protein glacier"
        " species neuron satellite reactor molecule climate bacteria isotope comet probe hypothesis sample"
        " spectrum antibody reef sensor mutation quark plasma microscope dataset placebo ecosystem gravity",
        "measured observed sequenced discovered tested modelled detected isolated replicated published launched"
        " mapped simulated catalogued",
        "experimental molecular distant cosmic genetic rare fossilised statistical microscopic atmospheric"
        " ancient quantum marine neural",
    ),
    "culture": _theme(
        "novel painting festival opera gallery sculptor director orchestra premiere poet exhibition museum film"
        " theatre album ballet curator manuscript playwright soprano biennale memoir cello sonnet fresco"
        " documentary rehearsal actor audience screenplay costume portrait symphony librarian restoration choir",
        "performed staged restored painted published directed exhibited translated composed auctioned reviewed"
        " filmed curated illustrated",
        "baroque contemporary acclaimed forgotten lyrical abstract theatrical avant-garde musical classical"
        " illustrated rediscovered intimate bold",
    ),
    "technology": _theme(
        "chip software browser network server robot battery algorithm startup encryption smartphone patent update"
        " cloud developer drone interface router processor database laptop malware keyboard firmware compiler"
        " gadget sensor prototype antenna kernel password silicon pixel headset latency backup",
        "launched patched hacked upgraded encrypted licensed unveiled automated recalled benchmarked released"
        " shipped scanned deprecated",
        "wireless digital automated open-source encrypted portable faulty autonomous scalable vulnerable embedded"
        " virtual foldable modular",
    ),
    "local": _theme(
        "council school street market library bus hospital mayor playground neighbour parish bakery tram footpath"
        " allotment nursery roadworks pub station charity pensioner volunteer recycling parade churchyard crossing"
        " swimming-pool bypass town-hall fair shopkeeper landlord ferry postman cafe pavement",
        "opened repaired closed renamed funded planted painted fenced visited organised cleaned rebuilt"
        " petitioned saved",
        "derelict beloved village riverside shared noisy planned weekly listed narrow elderly friendly busy muddy",
    ),
    "opinion": _theme(
        "argument column conscience nostalgia liberty duty reader privilege truth irony manners habit consensus"
        " dissent memory optimism cynicism fairness outrage virtue folly patience courage doubt editor essay"
        " metaphor principle dogma wisdom modesty prudence rhetoric myth instinct compromise",
        "defended questioned praised mocked reconsidered misread forgave doubted excused misunderstood invoked"
        " resented admired ridiculed",
        "honest lazy fashionable moral tired stubborn quiet comfortable reasonable naive plain hollow uneasy generous",
    ),
    "garden": _theme(
        "rose tulip compost orchard seedling hedge lawn pruning bulb trellis greenhouse slug soil beetroot"
        " lavender mulch bee watering-can dahlia apple quince perennial pollinator trowel frost herb fern marrow"
        " cutting clematis nettle wheelbarrow blossom rootstock pond hawthorn",
        "planted pruned watered sowed harvested grafted weeded transplanted mulched trimmed potted dug thinned bottled",
        "fragrant hardy overgrown dormant shaded early leafy damp sunny tender wild evergreen ripe fertile",
    ),
}

FIRST_NAMES = _words(
    "Ada Bruno Clara Dario Elena Felix Greta Hugo Irene Jonas Karin Leo Mira Nils Olga Pavel Quinn Rosa Stefan"
    " Tilda Ugo Vera Walter Xenia Yara Zoltan Amira Boris Celeste Dmitri Edith Farid Gemma Harald"
)
LAST_NAMES = _words(
    "Abel Brandt Castell Dorne Eckhart Falk Granger Holm Ivers Jansen Kessler Lindqvist Moreau Novak Ostrow"
    " Pelling Quist Renner Sandoval Thorne Ulrich Varga Winther Yates Zeller Ashdown Bellamy Corwin Draper Ellery"
    " Fenwick Garrow Hadley Ingram Jessop Kirkby Larkin Marlowe"
)
PLACE_STARTS = _words("Ash Bel Carr Dun Elm Fair Glen Har Ing Kel Lang Mar Nor Oak Pen Red Stan Thorn Ul West")
PLACE_ENDS = _words("bridge mouth field haven ford stead wick burgh minster dale holm port gate cliffe moor")
BODIES = _words("Council Group Institute Union Agency Trust Commission Society Partners Federation Board Works")
