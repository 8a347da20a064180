import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatCursor } from '../../../protocol/cursor.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';
import type { BackgroundCommands } from '../../agent/background/background-commands.ts';
import type { BackgroundRun } from '../../agent/background/background-run.ts';
import type { EventLog } from '../events/event-log.ts';
import { newestWithin, toHistory } from './history.ts';
import { isCutShort } from './is-cut-short.ts';
import { latestTodo } from './latest-todo.ts';
import type { Messages } from './messages.ts';
import type { Notes } from './notes.ts';
import type { ReadableWorkstream } from './readable-workstream.ts';

interface Size {
  messages: number;
  chars: number;
}

/** The size of a snapshot, which must fit into one frame with everything else. Older messages are loaded by page. */
const FIRST_PAINT: Size = { messages: 200, chars: 512 * 1024 };
/** The size of the `history` at the start of an event stream. */
const FULL_REPLAY: Size = { messages: 2_000, chars: 4 * 1024 * 1024 };

/** The state of a workstream at a position of its log: everything before it, and the cursor to continue from. */
export interface Snapshots {
  /**
   * The position before the turn in progress. Call it after a turn of the event loop, when no commit is partly applied.
   */
  placeOf(workstream: ReadableWorkstream): Place;
  /** `placeOf` after a turn of the event loop, with the cursor to continue from. */
  nextPlace(workstream: ReadableWorkstream): Promise<Place & { cursor: string }>;
  /** The messages up to a position; at most the last `most`. */
  history(
    workstream: ReadableWorkstream,
    place: Place,
    most?: number,
  ): Promise<{ messages: HistoryMessage[]; truncated: boolean }>;
  take(workstream: ReadableWorkstream): Promise<{ cursor: string; after: number; snapshot: WorkstreamSnapshot }>;
}

/** A position in the log, and the number of messages stored by then. */
interface Place {
  after: number;
  upTo: number;
}

interface SnapshotDeps {
  messages: Messages;
  notes: Notes;
  events: EventLog;
  background: Pick<BackgroundCommands, 'runningIn'>;
}

export function createSnapshots({ messages, notes, events, background }: SnapshotDeps): Snapshots {
  const placeOf = ({ data }: ReadableWorkstream): Place => ({
    after: data.turnStart?.afterOffset ?? events.bounds(data.wsId).last,
    upTo: data.turnStart?.afterSeq ?? data.messageCount,
  });

  const pageAt = async ({ data, current }: ReadableWorkstream, upTo: number, size: Size) => {
    const range = { after: data.contextAfterSeq, upTo, limit: size.messages };
    const stored = size.messages === 0 ? [] : await messages.page(data.wsId, range);
    const page = newestWithin(toHistory(stored, current?.pendingApproval()), size.chars);
    return { messages: page, truncated: await isCutShort(page[0]?.seq, { wsId: data.wsId, messages, range }) };
  };

  const cursorAt = (offset: number) => formatCursor({ epoch: events.epoch, offset });

  return {
    placeOf,
    async nextPlace(workstream) {
      await nextTurn();
      const place = placeOf(workstream);
      return { ...place, cursor: cursorAt(place.after) };
    },
    history(workstream, { upTo }, most = FULL_REPLAY.messages) {
      return pageAt(workstream, upTo, { ...FULL_REPLAY, messages: most });
    },
    async take(workstream) {
      await nextTurn();
      const { data } = workstream;
      const { after, upTo } = placeOf(workstream);
      const pendingApprovals = workstream.current?.pendingApprovals() ?? [];
      const status = data.status();
      const row = data.toRow();
      const { model } = data.settingsEvent();
      const contextAfter = data.contextAfterSeq;
      const shown = await pageAt(workstream, upTo, FIRST_PAINT);
      const { messages: page, truncated } = shown;
      const from = truncated ? (page[0]?.seq ?? upTo) : contextAfter;
      const todo = await latestTodo(messages, { wsId: data.wsId, after: contextAfter, upTo, shown });
      const told = await notes.page(data.wsId, { from, upTo, offset: after });
      return {
        cursor: cursorAt(after),
        after,
        snapshot: {
          workstream: row,
          model,
          workdir: data.workdir,
          messages: page,
          truncated,
          ...(told.length > 0 && { notes: told }),
          pendingApprovals,
          ...toRunning(background.runningIn(data.wsId)),
          ...(data.always?.tools && { autoApproveTools: [...data.always.tools] }),
          ...(data.judgeModel !== null && { judgeModel: data.judgeModel }),
          ...(data.machineLabels.length > 0 && { machineLabels: [...data.machineLabels] }),
          ...(status && { status }),
          ...(todo && { todo }),
          effort: data.effort(),
        },
      };
    },
  };
}

const toRunning = (running: readonly BackgroundRun[]): Pick<WorkstreamSnapshot, 'backgroundCommands'> =>
  running.length === 0 ? {} : { backgroundCommands: running.map(({ state }) => state) };
