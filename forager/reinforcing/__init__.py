"""The reinforcing agent: rewards the first to bring a document, multiplies good foragers, deletes poor ones. Pure.

relevancy     new and young enough? reward or penalty          (Alg 7)
scores        what a forager's findings do to its score        (Alg 7)
population    who multiplies, who is deleted                   (Alg 8)
agent         puts them together and keeps the turn            (Alg 9)
saving        the agent with its whole fleet as bytes
"""
