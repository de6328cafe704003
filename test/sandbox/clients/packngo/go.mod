module session

go 1.24.0

require github.com/packethost/packngo v0.31.0
