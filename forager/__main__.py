from forager.cli import main

main()
