"""What a crawl did, told to people: the report of a run, the dossier of a page, and what changed in a text.

showing    text of pages made safe to look at; moments and spans in words
changes    word-level differences of two texts
dossier    all that is known of one page; `reasons` why it is a story or not, visited or not
account    the figures of a run, made from its journal; `svg` draws them, `report` makes one HTML file of a run
"""
