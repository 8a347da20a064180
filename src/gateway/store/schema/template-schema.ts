/** A text for system prompts. Primary key template_id; the name is unique. */
export interface PromptTemplateTable {
  template_id: string;
  name: string;
  category: string;
  content: string;
  /** A JSON array. */
  variables: string;
  /** 0 or 1. */
  is_default: number;
  created_by: string;
  /** `mcp`: a tool server provides it. */
  origin: 'manual' | 'mcp';
  mcp_server: string;
  created_ms: number;
  updated_ms: number;
}

/** Settings for new workstreams. Primary key ws_template_id; the name is unique. */
export interface WsTemplateTable {
  ws_template_id: string;
  name: string;
  /** `WsTemplateSettings` as JSON. */
  settings_json: string;
  /** 0 or 1. */
  enabled: number;
  created_by: string;
  version: number;
  created_ms: number;
  updated_ms: number;
}

/** The state of a workstream template before an edit. Primary key (ws_template_id, version). */
export interface WsTemplateVersionTable {
  ws_template_id: string;
  version: number;
  /** The `WsTemplate` as JSON. */
  snapshot_json: string;
  changed_by: string;
  created_ms: number;
}

/** What templates a workstream was created with, or chose since. Primary key ws_id. */
export interface AppliedTemplateTable {
  ws_id: string;
  /** The workstream template, by its name then and its version; null without one. */
  ws_template_id: string | null;
  ws_template_name: string | null;
  ws_template_version: number | null;
  /** The name of a prompt template; null for the prompt of the workstream template. */
  prompt_name: string | null;
  /** Its text when it was chosen; null: conversations begin with the default templates. */
  prompt_content: string | null;
  temperature: number | null;
  max_tokens: number | null;
  /** Settings without an effect yet, as JSON. */
  stored_only_json: string;
}

/** The templates that a conversation began with, before their variables were filled in. Primary key ws_id. */
export interface OpeningPromptTable {
  ws_id: string;
  /** They belong to the context that begins after this message. */
  after_seq: number;
  /** Empty: none. */
  content: string;
}

/** The tables of templates. */
export interface TemplateTables {
  prompt_templates: PromptTemplateTable;
  ws_templates: WsTemplateTable;
  ws_template_versions: WsTemplateVersionTable;
  applied_templates: AppliedTemplateTable;
  opening_prompts: OpeningPromptTable;
}

/** Prompt templates, workstream templates, and what conversations took from them. */
export const templates: readonly string[] = [
  `create table prompt_templates (
    template_id text not null primary key, name text not null, category text not null, content text not null,
    variables text not null, is_default integer not null, created_by text not null, origin text not null,
    mcp_server text not null, created_ms bigint not null, updated_ms bigint not null
  )`,
  'create unique index prompt_templates_by_name on prompt_templates (name)',
  `create table ws_templates (
    ws_template_id text not null primary key, name text not null, settings_json text not null, enabled integer not null,
    created_by text not null, version bigint not null, created_ms bigint not null, updated_ms bigint not null
  )`,
  'create unique index ws_templates_by_name on ws_templates (name)',
  `create table ws_template_versions (
    ws_template_id text not null, version bigint not null, snapshot_json text not null, changed_by text not null,
    created_ms bigint not null, primary key (ws_template_id, version)
  )`,
  `create table applied_templates (
    ws_id text not null primary key, ws_template_id text, ws_template_name text, ws_template_version bigint,
    prompt_name text, prompt_content text, temperature real, max_tokens bigint, stored_only_json text not null
  )`,
  'create table opening_prompts (ws_id text not null primary key, after_seq bigint not null, content text not null)',
  // Conversations that have begun did so without templates, and keep their system prompt.
  `insert into opening_prompts (ws_id, after_seq, content)
    select ws_id, context_after_seq, '' from workstreams where message_count > context_after_seq`,
];
