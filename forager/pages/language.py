"""The language of a text, recognised by its script and by its commonest words.

A script that only one language uses decides at once. For the others each language has a row of short words that hardly
any of its texts lacks; the language whose words are the largest share of the text wins. A word of two languages counts
for both. The rows are ours, from the lists of function words in grammars.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

LOOKED_AT = 4_000  # characters at the beginning of a text that are looked at (ours)
SAMPLE = 1_000  # characters that are looked at to check a language that is stated (ours)
FEWEST = 8  # words without which nothing is said of a text that has no script of its own (ours)
SHARE = 0.08  # of the words of a text at least this share are common words of its language (ours)
CLEARLY = 3  # a text with this many times the common words of one language is not in the other (ours)

_SCRIPTS = (
    ("ja", "\u3040-\u30ff"),
    ("ko", "\uac00-\ud7af"),
    ("zh", "\u3400-\u9fff"),
    ("el", "\u0370-\u03ff"),
    ("he", "\u0590-\u05ff"),
    ("arabic", "\u0600-\u06ff"),
    ("cyrillic", "\u0400-\u04ff"),
    ("devanagari", "\u0900-\u097f"),
    ("bn", "\u0980-\u09ff"),
    ("pa", "\u0a00-\u0a7f"),
    ("gu", "\u0a80-\u0aff"),
    ("ta", "\u0b80-\u0bff"),
    ("te", "\u0c00-\u0c7f"),
    ("kn", "\u0c80-\u0cff"),
    ("ml", "\u0d00-\u0d7f"),
    ("si", "\u0d80-\u0dff"),
    ("th", "\u0e00-\u0e7f"),
    ("lo", "\u0e80-\u0eff"),
    ("my", "\u1000-\u109f"),
    ("ka", "\u10a0-\u10ff"),
    ("am", "\u1200-\u137f"),
    ("hy", "\u0530-\u058f"),
    ("km", "\u1780-\u17ff"),
)
_FOREIGN = re.compile("[\u0370-\u1aff\u2e80-\uffff]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_LETTERS = [(name, re.compile(f"[{letters}]")) for name, letters in _SCRIPTS]
_COMMON = {
    "latin": {
        "en": "the and of to in is that for was with as on it by at from are this have be an were has not but they",
        "de": "der die und das den von zu mit sich des auf ist im dem nicht ein eine als auch es an werden aus er hat wie bei",
        "fr": "le la les de des et du un une est que dans pour qui sur au pas plus par avec ce il sont aux cette",
        "es": "el la los las de que y en un una por con se del para es al lo como más pero su sus fue ha",
        "pt": "o os as de que e do da em um uma para com não por dos das mais na no ao foi pelo à são",
        "it": "il lo gli di che e la del della per un una in con non è da dei delle al sono nel alla più come",
        "nl": "de het een van en in dat is op te met voor zijn niet aan er die om ook bij maar naar door uit wordt",
        "sv": "och att det som en på är av för med den till i inte om ett har de från var kan vid nu så efter",
        "da": "og at det som en på er af for med den til i ikke om et har de fra var kan ved også efter blev",
        "no": "og at det som en på er av for med den til i ikke om et har de fra var kan ved også etter ble",
        "fi": "ja on ei että se oli hän mutta ovat kun myös joka mukaan sekä niin kuin ole voi vuoden jo jos",
        "pl": "i w na z się do nie to że jest o jak po od za przez są dla ale oraz przy tym które który był",
        "cs": "a v se na je že s z do o to i k ve pro za by ale jako po jsou který od byl podle také",
        "sk": "a v sa na je že s z do o to aj k vo pre za by ale ako po sú ktorý od bol podľa tiež",
        "sl": "in v je na za se da so z ki tudi pa po bi od kot ne pri še ob sta bo bil",
        "hr": "i u je na da se za su s od o kako koji a ne iz što bi će kao nije te bio po",
        "hu": "a az és hogy nem is egy volt meg ez de már el csak még mint azt vagy ki kell lesz van szerint",
        "ro": "și în de la a cu pe care că este din pentru un o nu se mai sunt au fost al ale sau prin",
        "tr": "ve bir bu da de için ile olarak çok daha olan gibi kadar ise sonra en göre var değil ne olduğu",
        "id": "yang dan di dengan untuk dari pada ini itu dalam tidak akan ke oleh juga ada karena telah bahwa saya",
        "vi": "và của là có được cho không trong với các một đã người này những đến khi từ ở về",
        "ca": "el la els les de que i en un una per amb del és al no com més però ha va dels seva aquest",
        "et": "ja on ei et see oli kui ka aga mis ta oma ning siis selle või mida veel pole nii",
        "lv": "un ir ar no uz par kas ka to arī bet tika vai lai gan pēc šo tā gada viņš",
        "lt": "ir yra kad su iš į kaip bet tai jis buvo apie dėl už taip nuo per prie jau",
        "sq": "dhe e të në një për me që është nga si ka do nuk më se por duke i ai",
        "sw": "na ya wa kwa ni za katika la kuwa cha hiyo huo yake wake hii kama lakini pia",
        "tl": "ang ng sa na mga ay at ni si para kay nang hindi ito niya siya ko mo",
    },
    "cyrillic": {
        "ru": "и в не на что с по как это он из за его был от для но к о то все так у же",
        "uk": "і в не на що з та як це він за його був від для але до про у й також є які",
        "bg": "и в не на че с по като това той от за да се е са който до му при ще са както",
        "sr": "и у је на да се за су са од о како који а не из што би ће као није те",
        "mk": "и во не на дека со по како тоа тој од за да се е се кој до му при ќе што",
        "be": "і ў не на што з па як гэта ён за яго быў ад для але да пра",
        "kk": "және бұл мен үшін бір де деп болды бар осы оның",
    },
    "arabic": {
        "ar": "في من على إلى أن التي عن مع الذي هذا ما لا كان هذه بعد كما قد",
        "fa": "و در به از که این را با است برای آن یک خود تا شد بر هم می های",
        "ur": "کے میں کی ہے سے کا نے اور کو پر یہ کہ ہیں اس بھی کر",
    },
    "devanagari": {
        "hi": "के में की है से का ने और को पर यह कि हैं इस भी कर",
        "mr": "आणि आहे या च्या हा ते तर होते यांनी नाही केली आहेत",
        "ne": "र को मा छ ले का हो भएको लाई गरेको पनि छन्",
    },
}


def _by_word(rows: Mapping[str, str]) -> dict[str, list[str]]:
    """The languages in which a word is common."""
    words: defaultdict[str, list[str]] = defaultdict(list)
    for name, row in rows.items():
        for word in row.split():
            words[word].append(name)
    return dict(words)


_LANGUAGES = {script: _by_word(rows) for script, rows in _COMMON.items()}


def words_in(text: str) -> int:
    """How many words a text has; scripts that write no blanks between words are counted by their letters."""
    return len((text if text.isascii() else _UNSPACED.sub(" x ", text)).split())


def language_of(text: str) -> str:
    """The language of a text, by its two letters; empty if it cannot be told."""
    script, words, votes = _votes(text)
    if script not in _COMMON:
        return script
    if not votes:
        return ""
    best, count = max(votes.items(), key=lambda vote: (vote[1], vote[0]))
    return best if count >= SHARE * words else ""


def contradicts(text: str, stated: str) -> bool:
    """Whether a text is surely not in a language: it has another script, or hardly a common word of that language."""
    script, words, votes = _votes(text[:SAMPLE])
    if script not in _COMMON:
        return stated != script
    written = next((name for name, rows in _COMMON.items() if stated in rows), "")
    if written != script:
        return bool(written) and bool(votes)
    return bool(votes) and max(votes.values()) >= max(SHARE * words, CLEARLY * votes.get(stated, 0))


def _votes(text: str) -> tuple[str, int, Counter[str]]:
    """The script of a text, its words, and for each language of this script how many of them are common there."""
    begin = text[:LOOKED_AT]
    script = "latin" if begin.isascii() else _script_of(begin)
    if script not in _COMMON:
        return script, 0, Counter()
    words = re.findall(r"[^\W\d_]+", begin.lower()) if script != "devanagari" else begin.split()
    common, votes = _LANGUAGES[script], Counter[str]()
    if len(words) >= FEWEST:
        for word, count in Counter(words).items():
            for name in common.get(word, ()):
                votes[name] += count
    return script, len(words), votes


def _script_of(text: str) -> str:
    """The script of most letters. Japanese is recognised by its few letters of its own among many Chinese ones."""
    if 8 * len(_FOREIGN.findall(text)) < len(text):
        return "latin"
    counts = {name: len(pattern.findall(text)) for name, pattern in _LETTERS}
    if 10 * counts["ja"] >= counts["zh"] + counts["ja"] > 0:
        counts["ja"] += counts["zh"]
    name = max(counts, key=lambda one: counts[one])
    letters = sum(map(str.isalpha, text))
    return name if 3 * counts[name] >= letters > 0 else "latin"
