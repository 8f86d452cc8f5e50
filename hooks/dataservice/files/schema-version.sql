CREATE DATABASE IF NOT EXISTS `dataservice` CHARACTER SET utf8mb4;
GRANT ALL PRIVILEGES ON `dataservice`.* TO 'dataservice'@'%';
CREATE TABLE IF NOT EXISTS `dataservice`.`schema_version` (
  `component` VARCHAR(64) NOT NULL,
  `version` VARCHAR(32) NOT NULL,
  `applied_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`component`, `version`)
);
