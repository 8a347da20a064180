import { copyChosen } from '../skills/chosen-skill.ts';
import type { AppliedTemplateTable } from '../store/schema/template-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

/** What a workstream took from templates, at its creation or by `/template`. */
export interface AppliedTemplates {
  /** Its conversations begin with this text instead of the default templates. */
  prompt: { name: string | null; content: string } | undefined;
  /** The name of the workstream template. */
  wsTemplate: string | undefined;
  temperature: number | undefined;
  maxTokens: number | undefined;
}

export async function readApplied({ db }: Pick<Store, 'db'>, wsId: string): Promise<AppliedTemplates | undefined> {
  const row = await db.selectFrom('applied_templates').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  return row && toApplied(row);
}

export const storeApplied = (row: AppliedTemplateTable): Statement =>
  statementOf(build.insertInto('applied_templates').values(row), 1);

/** Replaces the prompt; null: conversations begin with the default templates. */
export function storePrompt(wsId: string, prompt: { name: string; content: string } | null): Statement {
  const columns = { prompt_name: prompt?.name ?? null, prompt_content: prompt?.content ?? null };
  const insert = build.insertInto('applied_templates').values({ ...NOTHING, ws_id: wsId, ...columns });
  return statementOf(insert.onConflict((on) => on.column('ws_id').doUpdateSet(columns)));
}

/** Gives a copy of a conversation the templates and the skill of the original. */
export const copyTemplates = (from: { wsId: string; contextAfterSeq: number }, to: string): Statement[] => [
  {
    sql: `insert into applied_templates (ws_id, ws_template_id, ws_template_name, ws_template_version, prompt_name,
            prompt_content, temperature, max_tokens, stored_only_json)
          select ?, ws_template_id, ws_template_name, ws_template_version, prompt_name, prompt_content, temperature,
            max_tokens, stored_only_json from applied_templates where ws_id = ?`,
    parameters: [to, from.wsId],
  },
  {
    sql: `insert into opening_prompts (ws_id, after_seq, content)
          select ?, 0, content from opening_prompts where ws_id = ? and after_seq = ?`,
    parameters: [to, from.wsId, from.contextAfterSeq],
  },
  copyChosen(from.wsId, to),
];

/** A row without templates. */
export const NOTHING: Omit<AppliedTemplateTable, 'ws_id'> = {
  ws_template_id: null,
  ws_template_name: null,
  ws_template_version: null,
  prompt_name: null,
  prompt_content: null,
  temperature: null,
  max_tokens: null,
  stored_only_json: '{}',
};

const toApplied = (row: AppliedTemplateTable): AppliedTemplates => ({
  prompt: row.prompt_content === null ? undefined : { name: row.prompt_name, content: row.prompt_content },
  wsTemplate: row.ws_template_name ?? undefined,
  temperature: row.temperature ?? undefined,
  maxTokens: row.max_tokens ?? undefined,
});
