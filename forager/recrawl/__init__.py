"""Decides when to visit a page again: estimators, policies and score functions over the histories of pages.

Pure: no I/O and no clock; seeds and random generators are passed in.

history            what the visits so far tell of every page
visit_log          the latest visits, to learn from
terminals          histories as columns, and what a score function reads of them: CG, NAD, SAD, AAD, GAD, …
document_watch     what visits on a change log tell of how documents come and go
poisson            update rates by maximum likelihood (HACS)
rhythm             how busy each hour of the week is
list_estimates     how fast documents come to a list and leave it, and what waiting costs
policies           the score functions by name
formula            score functions as people write them
function_file      learned score functions as text
cycle              one cycle: rank, take the top k, say why
change_log         which page changed in which cycle; captures of an archive
simulate           recrawl cycles on a change log, page by page; what they reveal, and how soon
compare            policies side by side on one change log; how well HACS predicts changes
retrain            a lesson beside the crawl, and the contest with the rule in use
recrawl_settings   the settings of recrawling
"""
