import { GatewayError } from '../../../protocol/errors.ts';
import type { PromptTemplate } from '../../../protocol/methods/templates/template.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { PromptTemplateTable } from '../store/schema/template-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';

/** The fields that people set. */
export type PromptTemplateFields = Pick<PromptTemplate, 'name' | 'category' | 'content' | 'variables' | 'isDefault'>;

/** What creating and changing templates works with. */
export interface TemplatesDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
}

/** Texts for the system prompt. Statements given as `also` are stored together with a change. */
export class PromptTemplates {
  readonly #deps: TemplatesDeps;

  constructor(deps: TemplatesDeps) {
    this.#deps = deps;
  }

  /** In the order of their names. */
  async list(): Promise<PromptTemplate[]> {
    return (await this.#all().execute()).map(toTemplate);
  }

  /** The texts that a conversation begins with which names no template. */
  async defaults(): Promise<PromptTemplate[]> {
    return (await this.#all().where('is_default', '=', 1).execute()).map(toTemplate);
  }

  async findByName(name: string): Promise<PromptTemplate | undefined> {
    const row = await this.#all().where('name', '=', name).executeTakeFirst();
    return row && toTemplate(row);
  }

  /** Throws CONFLICT when the name is taken. */
  async create(
    fields: PromptTemplateFields,
    { by, also }: { by: string; also(templateId: string): readonly Statement[] },
  ): Promise<PromptTemplate> {
    const nowMs = this.#deps.clock.now();
    const row: PromptTemplateTable = {
      template_id: this.#deps.ids.id('tpl'),
      ...toColumns(fields),
      created_by: by,
      origin: 'manual',
      mcp_server: '',
      created_ms: nowMs,
      updated_ms: nowMs,
    };
    await this.#commit([statementOf(build.insertInto('prompt_templates').values(row), 1), ...also(row.template_id)]);
    return toTemplate(row);
  }

  /** Throws NOT_FOUND, FORBIDDEN for a template of a tool server, and CONFLICT when the name is taken. */
  async update(
    templateId: string,
    change: Partial<PromptTemplateFields>,
    also: readonly Statement[],
  ): Promise<PromptTemplate> {
    const before = await this.#getOwn(templateId);
    const columns = { ...toColumns({ ...before, ...change }), updated_ms: this.#deps.clock.now() };
    const update = build.updateTable('prompt_templates').set(columns).where('template_id', '=', templateId);
    await this.#commit([statementOf(update, 1), ...also]);
    return { ...before, ...change, updatedAtMs: columns.updated_ms };
  }

  /** Throws NOT_FOUND, and FORBIDDEN for a template of a tool server. */
  async remove(templateId: string, also: readonly Statement[]): Promise<void> {
    await this.#getOwn(templateId);
    const remove = build.deleteFrom('prompt_templates').where('template_id', '=', templateId);
    await this.#commit([statementOf(remove, 1), ...also]);
  }

  #all() {
    return this.#deps.store.db.selectFrom('prompt_templates').selectAll().orderBy('name');
  }

  async #getOwn(templateId: string): Promise<PromptTemplate> {
    const row = await this.#all().where('template_id', '=', templateId).executeTakeFirst();
    if (row === undefined) throw templateMissing();
    if (row.origin === 'mcp') throw new GatewayError('FORBIDDEN', 'MCP-sourced templates are read-only');
    return toTemplate(row);
  }

  async #commit(statements: Statement[]): Promise<void> {
    try {
      await this.#deps.store.commit({ statements, durable: true });
    } catch (error) {
      if (!(error instanceof UnitRefused)) throw error;
      throw error.why === 'key' ? nameTaken(error) : templateMissing(error);
    }
  }
}

const toColumns = ({ name, category, content, variables, isDefault }: PromptTemplateFields) => ({
  name,
  category,
  content,
  variables,
  is_default: isDefault ? 1 : 0,
});

const toTemplate = (row: PromptTemplateTable): PromptTemplate => ({
  templateId: row.template_id,
  name: row.name,
  category: row.category,
  content: row.content,
  variables: row.variables,
  isDefault: row.is_default === 1,
  createdBy: row.created_by,
  origin: row.origin,
  mcpServer: row.mcp_server,
  createdAtMs: row.created_ms,
  updatedAtMs: row.updated_ms,
});

const templateMissing = (cause?: unknown) => new GatewayError('NOT_FOUND', 'Template not found', { cause });

/** The refusal of a name in use. */
export const nameTaken = (cause: unknown): GatewayError =>
  new GatewayError('CONFLICT', 'Name already exists', { cause });
