module session

go 1.24.0

require github.com/cherryservers/cherrygo/v3 v3.9.0
