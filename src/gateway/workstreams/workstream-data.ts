import type { Mode } from '../../../protocol/events/modes.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import { kindOf, type WorkstreamKind } from '../../../protocol/methods/conversation/kinds.ts';
import type { WorkstreamRow } from '../../../protocol/methods/conversation/listing.ts';
import type {
  Effort,
  StatusRecord,
  StreamEvent,
  StreamEventOf,
  WorkstreamState,
} from '../../../protocol/stream-events.ts';
import type { NewPrefix, Prefix } from '../../agent/prefix/prefix.ts';
import type { Models } from '../../agent/providers/model.ts';
import { statusOf } from '../../agent/run/generate.ts';
import { countStarted, type Step } from '../../agent/run/recorder.ts';
import type { FolderIdentity } from '../../agent/tools/files/held-folder.ts';
import type { KnownCalls } from '../history/earlier-calls.ts';
import type { Rules } from '../rules/rules.ts';
import type { Owned } from '../sharing/perception.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import { isListOf, isText, type ReadStored, storedReader } from '../store/stored-value.ts';
import type { AppliedTemplates } from '../templates/applied-templates.ts';
import type { OpeningPrompt } from '../templates/opening-prompts.ts';
import { addTokens, usageIn } from '../usage/last-usage.ts';
import { labelsIn } from '../workers/can-own.ts';
import { type Always, type AlwaysRules, isFull, modeUnder, toAlways, toAlwaysColumns } from './always.ts';
import { toEffort } from './thinking-level.ts';

/**
 * Where the model turn in progress begins: histories end before it, streams replay from it. The first turn of a run begins
 * after the run's message, because a question may be asked before the model is.
 */
export interface TurnStart {
  /** The offset before its `thinking_start`, or of the `user_turn` of its run. */
  afterOffset: number;
  /** The number of messages stored by then. */
  afterSeq: number;
}

/** The data of a loaded workstream that is available without the store. Updated with every committed step. */
export interface WorkstreamData extends Owned {
  readonly wsId: string;
  /** Canonical: `main`, `cron:<jobId>`, the alias that created the session, or otherwise the ws_id. */
  readonly sessionKey: string;
  /** A real path. `Settings.confirmWorkdir` and `setReadable` change these three fields. */
  workdir: string;
  workdirIno: string | null;
  readable: readonly FolderIdentity[];
  readonly createdMs: number;
  ownerId: string;
  visibility: Owned['visibility'];
  name: string;
  /** The name without an alias: the name it was created with, or a generated one. */
  readonly generatedName: string;
  alias: string | null;
  title: string | null;
  /** The title is the first message, and nothing was answered yet: the first answer gives it another one. */
  isTitleDue: boolean;
  modelAlias: string | null;
  /** As granted; it may have ended by now. */
  always: Always | undefined;
  /** Calls that change something are blocked, unless auto-approve covers all tools. */
  isReadOnly: boolean;
  readonly judgeModel: string | null;
  /** The labels that its machine needs. */
  readonly machineLabels: readonly string[];
  readonly kind: WorkstreamKind;
  /** The coordinator that it works for. */
  parentWsId: string | null;
  thinkingLevel: string | null;
  verboseLevel: string | null;
  state: WorkstreamState;
  messageCount: number;
  /** How many of the messages since `contextAfterSeq` were taken back or removed. */
  cutCount: number;
  contextAfterSeq: number;
  /** Read with the context. It holds while the context begins where it began then. */
  prefix: { afterSeq: number; prefix: Prefix } | undefined;
  /** Read with the context, too. */
  templates: AppliedTemplates | undefined;
  /** The templates that a context began with. It holds as long as the prefix does, and after cuts for models. */
  opening: OpeningPrompt | undefined;
  /** Read when an answer must not use their ids again. */
  readonly knownCalls: KnownCalls;
  updatedMs: number;
  epoch: number;
  abortedLastRun: boolean;
  turnStart: TurnStart | undefined;
  /** When the model last answered, or as estimated after a cut. */
  usage: Pick<NonNullable<Step['usage']>, 'usage' | 'contextWindow' | 'afterSeq'> | undefined;
  /** Tool calls that have begun. */
  toolCalls: number;
  /** Tokens of its runs since it was loaded. */
  readonly tokens: { prompt: number; completion: number };
  applyStep(step: Step, at: { lastOffset: number; nowMs: number }): void;
  /** The settings as columns. */
  settings(): Settings;
  applySettings(values: Partial<Settings>): void;
  /** The event with the current settings, or with a change that is about to be stored. */
  settingsEvent(change?: Partial<Settings>): StreamEventOf<'settings_changed'>;
  mode(): Mode;
  /** What was allowed in the conversation ends with it; that is stored already. */
  endGrants(): void;
  toRow(): WorkstreamRow;
  status(): StatusRecord | undefined;
  effort(): Effort;
}

export type Settings = Pick<
  WorkstreamTable,
  | 'alias'
  | 'model_alias'
  | 'always_by'
  | 'always_until_ms'
  | 'always_tools_json'
  | 'always_mode'
  | 'read_only'
  | 'thinking_level'
  | 'verbose_level'
>;

/** Used at each access, because the answers change while a workstream is loaded. */
export interface WorkstreamDataDeps {
  models: Pick<Models, 'current' | 'list'>;
  always: Pick<AlwaysRules, 'isInForce'>;
  rules: Pick<Rules, 'endIn'>;
  store: Pick<Store, 'reportDamage'>;
}

export function createWorkstreamData(
  row: WorkstreamTable,
  { models, always: rules, rules: callRules, store }: WorkstreamDataDeps,
): WorkstreamData {
  /** Of auto-approve for all tools. */
  const endIfInForce = (always: Always | undefined) =>
    rules.isInForce(always) && isFull(always) ? { ms: always.untilMs } : undefined;
  const modeOf = (always: Always | undefined, isReadOnly: boolean) =>
    modeUnder(rules.isInForce(always) ? always : undefined, isReadOnly);
  const data: WorkstreamData = {
    ...fieldsOf(row, storedReader(store)),
    wsId: row.ws_id,
    sessionKey: row.session_key ?? row.ws_id,
    createdMs: row.created_ms,
    applyStep(step, at) {
      data.updatedMs = Math.max(data.updatedMs, at.nowMs);
      data.messageCount += step.messages?.length ?? 0; // first, because steering messages come before the turn of their step
      followEvents(data, step.events ?? [], at.lastOffset);
      data.toolCalls += countStarted(step);
      if (step.usage) data.usage = step.usage;
      addTokens(data.tokens, step);
      if (step.prefix) Object.assign(data, beginningWith(step.prefix, data.contextAfterSeq));
      if (!step.ended) return;
      data.abortedLastRun = step.ended.status === 'cancelled';
      data.turnStart = undefined;
    },
    settings: () => ({
      alias: data.alias,
      model_alias: data.modelAlias,
      ...toAlwaysColumns(data.always),
      read_only: data.isReadOnly ? 1 : 0,
      thinking_level: data.thinkingLevel,
      verbose_level: data.verboseLevel,
    }),
    applySettings: (values) => applyTo(data, values),
    settingsEvent(change = {}) {
      const { alias, model_alias, read_only, ...columns } = { ...data.settings(), ...change };
      const model = modelOf(model_alias, models);
      const always = toAlways(columns);
      const until = endIfInForce(always);
      return {
        type: 'settings_changed',
        name: alias ?? data.generatedName,
        model: model.modelId,
        model_alias: model.alias,
        skip_permissions: until !== undefined,
        ...(until?.ms && { skip_permissions_until_ms: until.ms }),
        mode: modeOf(always, read_only === 1),
        effort: toEffort(columns.thinking_level),
      };
    },
    mode: () => modeOf(data.always, data.isReadOnly),
    toRow: () => rowOf(data, endIfInForce(data.always), modelOf(data.modelAlias, models).alias),
    endGrants() {
      data.always = undefined;
      callRules.endIn(data.wsId);
    },
    status: () => data.usage && statusOf(data.usage.usage, data.usage.contextWindow, data.effort()),
    effort: () => toEffort(data.thinkingLevel),
  };
  return data;
}

function applyTo(data: WorkstreamData, values: Partial<Settings>): void {
  if (values.alias !== undefined) data.alias = values.alias;
  data.name = data.alias ?? data.generatedName;
  if (values.model_alias !== undefined) data.modelAlias = values.model_alias;
  if (values.always_by !== undefined)
    data.always = toAlways({
      always_until_ms: null,
      always_tools_json: null,
      always_mode: null,
      ...values,
      always_by: values.always_by,
    });
  if (values.read_only !== undefined) data.isReadOnly = values.read_only === 1;
  data.thinkingLevel = chosen(values.thinking_level, data.thinkingLevel);
  data.verboseLevel = chosen(values.verbose_level, data.verboseLevel);
}

const chosen = <T>(value: T | undefined, now: T): T => (value === undefined ? now : value);

function rowOf(data: WorkstreamData, until: { ms: number | null } | undefined, modelAlias: string): WorkstreamRow {
  return {
    wsId: data.wsId,
    name: data.name,
    sessionKey: data.sessionKey,
    state: data.state,
    title: data.title,
    modelAlias,
    skipPermissions: until !== undefined,
    ...(until?.ms && { skipPermissionsUntilMs: until.ms }),
    mode: data.mode(),
    messageCount: data.messageCount,
    createdMs: data.createdMs,
    updatedMs: data.updatedMs,
    userId: data.ownerId,
    visibility: data.visibility,
    ...kindOf(data),
  };
}

/** The prefix of a context, and the templates in it. */
const beginningWith = (
  { templates: content, ...prefix }: NewPrefix,
  afterSeq: number,
): Pick<WorkstreamData, 'prefix' | 'opening'> => ({ prefix: { afterSeq, prefix }, opening: { afterSeq, content } });

const fieldsOf = (row: WorkstreamTable, read: ReadStored) => ({
  ownerId: row.owner_id,
  visibility: row.visibility,
  workdir: row.workdir,
  workdirIno: row.workdir_ino,
  readable: read(row.readable_json, `the list of readable folders of workstream ${row.ws_id}`, isFolders) ?? [],
  name: row.alias ?? row.generated_name,
  generatedName: row.generated_name,
  alias: row.alias,
  title: row.title,
  isTitleDue: false,
  modelAlias: row.model_alias,
  always: toAlways(row),
  isReadOnly: row.read_only === 1,
  thinkingLevel: row.thinking_level,
  verboseLevel: row.verbose_level,
  state: stateAfter(row.last_run_status),
  messageCount: row.message_count,
  cutCount: row.cut_count,
  contextAfterSeq: row.context_after_seq,
  prefix: undefined,
  templates: undefined,
  opening: undefined,
  knownCalls: { upTo: 0, ids: new Set<string>() },
  updatedMs: row.updated_ms,
  epoch: row.run_epoch,
  abortedLastRun: row.last_run_status === 'cancelled',
  turnStart: undefined,
  usage: usageIn(row, read),
  toolCalls: row.tool_calls,
  tokens: { prompt: 0, completion: 0 },
  judgeModel: row.judge_model,
  machineLabels: labelsIn(row.machine_labels),
  kind: row.kind,
  parentWsId: row.parent_ws_id,
});

const isFolders = isListOf(
  (value): value is FolderIdentity => isRecord(value) && isText(value.path) && isText(value.ino),
);

/** The state of a workstream after the end of its latest run. */
export const stateAfter = (status: WorkstreamTable['last_run_status']): WorkstreamState =>
  status === 'error' || status === 'timeout' ? 'error' : 'idle';

function followEvents(data: WorkstreamData, events: readonly StreamEvent[], lastOffset: number): void {
  events.forEach((event, index) => {
    if (event.type === 'ws_state') data.state = event.state;
    const offset = lastOffset - (events.length - 1 - index);
    const afterSeq = data.messageCount;
    // Later messages of the run (feedback, steering) begin no turn.
    if (event.type === 'user_turn') data.turnStart ??= { afterOffset: offset, afterSeq };
    if (event.type === 'thinking_start') data.turnStart = { afterOffset: offset - 1, afterSeq };
  });
}

/** A workstream without its own model follows the default one. A model outside all lists is shown by its name. */
function modelOf(alias: string | null, models: Pick<Models, 'current' | 'list'>): { alias: string; modelId: string } {
  if (alias === null) return models.current();
  return models.list().find((model) => model.alias === alias) ?? { alias, modelId: alias };
}

/** How many messages the conversation has: since the last /clear, without those that were taken back or removed. */
export const countCurrent = (data: Pick<WorkstreamData, 'messageCount' | 'contextAfterSeq' | 'cutCount'>): number =>
  data.messageCount - data.contextAfterSeq - data.cutCount;
