package dataservice

import (
	"cmp"
	"slices"
	"strings"
)

// defaultParameters are those of a JDBC connection where the address of mysql has not the same ones.
var defaultParameters = []string{"useUnicode=true", "characterEncoding=utf8", "connectionTimeZone=SERVER"}

// database is the database of the component: its own, or the one in the address of mysql.
func (f file) database() string {
	database, _ := f.externalDatabase()
	return cmp.Or(database, f.unit.database)
}

// parameters are those of its JDBC connection: the defaults, and then those in the address of mysql.
func (f file) parameters() string {
	_, parameters := f.externalDatabase()
	theirs := strings.Split(parameters, "&")
	all := slices.DeleteFunc(slices.Clone(defaultParameters), func(parameter string) bool {
		name, _, _ := strings.Cut(parameter, "=")
		return slices.ContainsFunc(theirs, func(other string) bool {
			return strings.HasPrefix(other, name+"=") || name == "connectionTimeZone" && strings.HasPrefix(other, "serverTimezone=") // its older name
		})
	})
	if parameters != "" {
		all = append(all, parameters)
	}
	return strings.Join(all, "&")
}

// externalDatabase returns the database and the parameters in the address of an external mysql.
func (f file) externalDatabase() (database, parameters string) {
	u := f.product.unit("mysql")
	if u.runsHere() {
		return "", ""
	}
	address, parameters, _ := strings.Cut(strings.TrimPrefix(u.said.thirdParty.URL, "mysql://"), "?")
	_, database, _ = strings.Cut(address, "/")
	return database, parameters
}
