import { z } from 'zod';
import { GatewayError } from '../../../protocol/errors.ts';
import { WsTemplate } from '../../../protocol/methods/templates/wstemplate.ts';
import type { WsTemplateTable } from '../store/schema/template-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, UnitRefused } from '../store/store.ts';
import { nameTaken, type TemplatesDeps } from './prompt-templates.ts';

const Settings = WsTemplate.omit({
  wsTemplateId: true,
  name: true,
  enabled: true,
  createdBy: true,
  version: true,
  createdAtMs: true,
  updatedAtMs: true,
});
type WsTemplateSettings = z.infer<typeof Settings>;

/** The fields that people set, and the hash. */
export type WsTemplateFields = WsTemplateSettings & Pick<WsTemplate, 'name' | 'enabled'>;

/** What a template begins with. */
export const NEW_WS_TEMPLATE: Omit<WsTemplateFields, 'name'> = {
  description: '',
  systemPrompt: '',
  promptTemplate: '',
  promptTemplateHash: '',
  model: '',
  autoApprove: false,
  autoApproveTools: '',
  temperature: null,
  reasoningEffort: '',
  maxTokens: null,
  tokenBudget: 0,
  agentMaxTurns: null,
  notifyOnComplete: '{}',
  enabled: true,
};

/** Settings for new workstreams. Statements given as `also` are stored together with a change. */
export class WsTemplates {
  readonly #deps: TemplatesDeps;

  constructor(deps: TemplatesDeps) {
    this.#deps = deps;
  }

  /** In the order of their names. */
  async list(): Promise<WsTemplate[]> {
    return (await this.#all().execute()).map(toWsTemplate);
  }

  async findEnabled(name: string): Promise<WsTemplate | undefined> {
    const row = await this.#all().where('name', '=', name).where('enabled', '=', 1).executeTakeFirst();
    return row && toWsTemplate(row);
  }

  /** Throws NOT_FOUND. */
  async get(wsTemplateId: string): Promise<WsTemplate> {
    const row = await this.#all().where('ws_template_id', '=', wsTemplateId).executeTakeFirst();
    if (row === undefined) throw missing();
    return toWsTemplate(row);
  }

  /** Throws CONFLICT when the name is taken. */
  async create(
    fields: WsTemplateFields,
    { by, also }: { by: string; also(wsTemplateId: string): readonly Statement[] },
  ): Promise<WsTemplate> {
    const nowMs = this.#deps.clock.now();
    const row: WsTemplateTable = {
      ws_template_id: this.#deps.ids.id('wst'),
      ...toColumns(fields),
      created_by: by,
      version: 1,
      created_ms: nowMs,
      updated_ms: nowMs,
    };
    await this.#commit([statementOf(build.insertInto('ws_templates').values(row), 1), ...also(row.ws_template_id)]);
    return toWsTemplate(row);
  }

  /** Keeps the state before as a version. Throws CONFLICT when the name is taken, or the template changed meanwhile. */
  async update(
    before: WsTemplate,
    change: Partial<WsTemplateFields>,
    { by, also }: { by: string; also: readonly Statement[] },
  ): Promise<WsTemplate> {
    const { wsTemplateId, version } = before;
    const nowMs = this.#deps.clock.now();
    const columns = { ...toColumns({ ...before, ...change }), version: version + 1, updated_ms: nowMs };
    const update = build.updateTable('ws_templates').set(columns).where('ws_template_id', '=', wsTemplateId);
    const keep = build.insertInto('ws_template_versions').values({
      ws_template_id: wsTemplateId,
      version,
      snapshot_json: JSON.stringify(before),
      changed_by: by,
      created_ms: nowMs,
    });
    await this.#commit([statementOf(update.where('version', '=', version), 1), statementOf(keep, 1), ...also]);
    return this.get(wsTemplateId);
  }

  /** With its versions. Throws NOT_FOUND. */
  async remove(wsTemplateId: string, also: readonly Statement[]): Promise<void> {
    await this.get(wsTemplateId);
    const own = build.deleteFrom('ws_templates').where('ws_template_id', '=', wsTemplateId);
    const versions = build.deleteFrom('ws_template_versions').where('ws_template_id', '=', wsTemplateId);
    await this.#commit([statementOf(own, 1), statementOf(versions), ...also]);
  }

  /** Newest first. Throws NOT_FOUND. */
  async versions(wsTemplateId: string) {
    await this.get(wsTemplateId);
    const rows = await this.#deps.store.db
      .selectFrom('ws_template_versions')
      .selectAll()
      .where('ws_template_id', '=', wsTemplateId)
      .orderBy('version', 'desc')
      .execute();
    return rows.map(({ version, snapshot_json, changed_by, created_ms }) => ({
      version,
      snapshot: WsTemplate.parse(JSON.parse(snapshot_json)),
      changedBy: changed_by,
      createdAtMs: created_ms,
    }));
  }

  #all() {
    return this.#deps.store.db.selectFrom('ws_templates').selectAll().orderBy('name');
  }

  async #commit(statements: Statement[]): Promise<void> {
    try {
      await this.#deps.store.commit({ statements, durable: true });
    } catch (error) {
      if (!(error instanceof UnitRefused)) throw error;
      if (error.why === 'key') throw nameTaken(error);
      throw new GatewayError('CONFLICT', 'The template was changed meanwhile; try again', {
        cause: error,
        retryable: true,
      });
    }
  }
}

const toColumns = ({ name, enabled, ...fields }: WsTemplateFields) => ({
  name,
  enabled: enabled ? 1 : 0,
  settings_json: JSON.stringify(z.object(Settings.shape).parse(fields)), // without the fields of other columns
});

const toWsTemplate = (row: WsTemplateTable): WsTemplate => ({
  ...Settings.parse(JSON.parse(row.settings_json)),
  wsTemplateId: row.ws_template_id,
  name: row.name,
  enabled: row.enabled === 1,
  createdBy: row.created_by,
  version: row.version,
  createdAtMs: row.created_ms,
  updatedAtMs: row.updated_ms,
});

const missing = () => new GatewayError('NOT_FOUND', 'Not found');
