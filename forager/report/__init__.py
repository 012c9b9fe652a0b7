"""Tells what a run did: its account, the report of it, and all that is known of one page.

Invariant: every figure that is shown comes from the account, and everything of the web is escaped.

account           the figures of a run, made from its events
run               the report of a run as one HTML file
dossier           all that is known of one page, with what changed in its text
reasons           why a page is a story or not, and visited or not
recrawl_reasons   why the recrawl cycle looks at a page soon or late
charts            small charts as SVG
page              the look that reports share
text              text of pages made harmless; moments and spans in words
report.css        the style of reports
"""
