package modelbox
