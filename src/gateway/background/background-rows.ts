import { BackgroundCommand } from '../../../protocol/events/background-command.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { StoredCommand } from '../../agent/background/background-store.ts';
import type { ToolMessage } from '../../agent/message.ts';
import type { ProcessIdentity } from '../../agent/tools/tool.ts';
import type { BackgroundCommandTable } from '../store/schema/background/background-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { isText, storedReader } from '../store/stored-value.ts';
import { inHosted } from '../workers/elsewhere.ts';

/** So many commands of a workstream stay listed when they have ended. */
const KEPT = 50;

/** The statements that store a command which is about to start; they remove the oldest ones of its workstream. */
export function insertCommand(command: StoredCommand, process: ProcessIdentity): Statement[] {
  const { wsId, state, taint, outputName, isTold } = command;
  const insert = build.insertInto('background_commands').values({
    command_id: state.command_id,
    ws_id: wsId,
    started_ms: state.started_ms,
    is_running: 1,
    is_told: Number(isTold),
    state_json: JSON.stringify(state),
    process_json: JSON.stringify(process),
    taint_json: taint ? JSON.stringify(taint) : null,
    output_name: outputName ?? null,
  });
  const latest = build
    .selectFrom('background_commands')
    .select('command_id')
    .where('ws_id', '=', wsId)
    .orderBy('started_ms', 'desc')
    .limit(KEPT);
  const old = build
    .deleteFrom('background_commands')
    .where('ws_id', '=', wsId)
    .where('is_running', '=', 0)
    .where('is_told', '=', 1)
    .where('command_id', 'not in', latest);
  return [statementOf(insert), statementOf(old)];
}

/** Stores the present state; refused if the command is not stored. What the model was told meanwhile, it knows. */
export const updateCommand = ({ state, outputName, isTold }: StoredCommand): Statement =>
  statementOf(
    build
      .updateTable('background_commands')
      .set({
        is_running: Number(state.state === 'running'),
        ...(isTold && { is_told: 1 }),
        state_json: JSON.stringify(state),
        output_name: outputName ?? null,
      })
      .where('command_id', '=', state.command_id),
    1,
  );

/** The model knows how these commands have ended. */
export const markTold = (commandIds: readonly string[] = []): Statement[] =>
  commandIds.length === 0
    ? []
    : [statementOf(build.updateTable('background_commands').set({ is_told: 1 }).where('command_id', 'in', commandIds))];

/** The model will never ask about the commands of this workstream that have ended. */
export const markAllTold = (wsId: string): Statement =>
  statementOf(
    build
      .updateTable('background_commands')
      .set({ is_told: 1 })
      .where('ws_id', '=', wsId)
      .where('is_running', '=', 0)
      .where('is_told', '=', 0),
  );

type Readable = Pick<Store, 'db' | 'machine' | 'reportDamage'>;

/** The latest commands of a workstream, in the order in which they were started. */
export async function readCommands(store: Readable, wsId: string): Promise<StoredCommand[]> {
  const rows = await store.db
    .selectFrom('background_commands')
    .selectAll()
    .where('ws_id', '=', wsId)
    .orderBy('started_ms', 'desc')
    .limit(KEPT)
    .execute();
  return rows.reverse().flatMap((row) => toCommand(store, row));
}

/** A command of this workstream. */
export async function findCommand(
  store: Readable,
  wsId: string,
  commandId: string,
): Promise<StoredCommand | undefined> {
  const row = await store.db
    .selectFrom('background_commands')
    .selectAll()
    .where('command_id', '=', commandId)
    .where('ws_id', '=', wsId)
    .executeTakeFirst();
  return row && toCommand(store, row)[0];
}

/** The commands of a workstream whose end the model does not know, oldest first. */
export async function readUntold(store: Readable, wsId: string): Promise<StoredCommand[]> {
  const rows = await store.db
    .selectFrom('background_commands')
    .selectAll()
    .where('is_running', '=', 0)
    .where('is_told', '=', 0)
    .where('ws_id', '=', wsId)
    .orderBy('started_ms')
    .execute();
  return rows.flatMap((row) => toCommand(store, row));
}

/** The workstreams with commands whose end the model does not know. */
export async function readUntoldIds({ db }: Pick<Store, 'db'>): Promise<string[]> {
  const rows = await db
    .selectFrom('background_commands')
    .select('ws_id')
    .distinct()
    .where('is_running', '=', 0)
    .where('is_told', '=', 0)
    .execute();
  return rows.map(({ ws_id }) => ws_id);
}

/** A command that ran when the daemon died. */
export interface LostCommand extends StoredCommand {
  /** Undefined: it is damaged. */
  process: ProcessIdentity | undefined;
}

/** The commands that ran when the daemon died. */
export async function readRunning(store: Readable): Promise<LostCommand[]> {
  const rows = await store.db
    .selectFrom('background_commands')
    .selectAll()
    .where('is_running', '=', 1)
    .where(inHosted(store))
    .execute();
  return rows.flatMap((row) =>
    toCommand(store, row).map((command) => {
      const process = storedReader(store)(row.process_json, `the process of ${row.command_id}`, isProcess);
      return { ...command, process };
    }),
  );
}

const isProcess = (value: unknown): value is ProcessIdentity =>
  isRecord(value) && typeof value.pid === 'number' && typeof value.startTicks === 'number';

type StoredTaint = NonNullable<ToolMessage['taint']>;
const isTaint = (value: unknown): value is StoredTaint => isRecord(value) && isText(value.kind);

/** Damage counts as the worst. */
const UNKNOWN_TAINT: StoredTaint = { kind: 'unknown' };

const isCommand = (value: unknown): value is BackgroundCommand => BackgroundCommand.safeParse(value).success;

/** None if the row is damaged, which is reported. */
function toCommand(store: Readable, row: BackgroundCommandTable): StoredCommand[] {
  const read = storedReader(store);
  const { taint_json: taint } = row;
  const state = read(row.state_json, `background command ${row.command_id}`, isCommand);
  if (!state) return [];
  return [
    {
      wsId: row.ws_id,
      state,
      taint: taint === null ? undefined : (read(taint, `the taint of ${row.command_id}`, isTaint) ?? UNKNOWN_TAINT),
      outputName: row.output_name ?? undefined,
      isTold: row.is_told === 1,
    },
  ];
}
