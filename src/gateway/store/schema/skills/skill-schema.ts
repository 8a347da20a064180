/** A stored skill. Primary key skill_id; the name is unique. */
export interface SkillTable {
  skill_id: string;
  name: string;
  /** The `Skill` without its content, its scan and what has a column, as JSON. */
  fields_json: string;
  content: string;
  /** The `SkillScan` as JSON. */
  scan_json: string;
  origin: 'manual' | 'source';
  /** 0 or 1. */
  enabled: number;
  activation: 'named' | 'default' | 'search';
  revision: number;
  created_by: string;
  created_ms: number;
  updated_ms: number;
}

/** The state of a skill before an edit. Primary key (skill_id, revision). */
export interface SkillVersionTable {
  skill_id: string;
  revision: number;
  /** The `Skill` as JSON. */
  snapshot_json: string;
  changed_by: string;
  created_ms: number;
}

/** A file that a skill brings. Primary key (skill_id, path). */
export interface SkillResourceTable {
  skill_id: string;
  path: string;
  resource_id: string;
  content: string;
  content_type: string;
  /** In bytes. */
  size: number;
  created_ms: number;
}

/** The skill that people chose for a workstream, with its text at that time. Primary key ws_id. */
export interface ChosenSkillTable {
  ws_id: string;
  name: string;
  /** Of a stored skill; null: it is in a folder. */
  skill_id: string | null;
  revision: number | null;
  /** The `AgentSkill` as JSON. */
  skill_json: string;
}

/** The tables of skills. */
export interface SkillTables {
  skills: SkillTable;
  skill_versions: SkillVersionTable;
  skill_resources: SkillResourceTable;
  chosen_skills: ChosenSkillTable;
}

/** Schema version 45: skills, and what workstreams took from them. */
export const skills: readonly string[] = [
  `create table skills (
    skill_id text not null primary key, name text not null, fields_json text not null, content text not null,
    scan_json text not null, origin text not null, enabled integer not null, activation text not null,
    revision bigint not null, created_by text not null, created_ms bigint not null, updated_ms bigint not null
  )`,
  'create unique index skills_by_name on skills (name)',
  `create table skill_versions (
    skill_id text not null, revision bigint not null, snapshot_json text not null, changed_by text not null,
    created_ms bigint not null, primary key (skill_id, revision)
  )`,
  `create table skill_resources (
    skill_id text not null, path text not null, resource_id text not null, content text not null,
    content_type text not null, size bigint not null, created_ms bigint not null, primary key (skill_id, path)
  )`,
  `create table chosen_skills (
    ws_id text not null primary key, name text not null, skill_id text, revision bigint, skill_json text not null
  )`,
];
