"""Reports on a run: its account, an HTML report, and everything known about one page.

Invariant: every figure shown comes from the account, and all text from the web is escaped.

account           the figures of a run, computed from its events
run               the report of a run as one HTML file
dossier           everything known about one page, with the changes of its text
reasons           explains why a page is a story or not, and when it is visited
charts            small SVG charts, and the page layout that reports share
phrases           makes text from pages safe to show; formats times, durations and numbers
report.css        the style of reports
"""
