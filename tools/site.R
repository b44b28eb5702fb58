# The documentation as web pages in out/site, offline. _pkgdown.yml groups the reference.
options(pkgdown.internet = FALSE)
pkgdown::build_site(".", override = list(destination = file.path("out", "site")), preview = FALSE,
                    install = FALSE, new_process = FALSE, devel = FALSE)
