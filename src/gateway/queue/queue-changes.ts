import { GatewayError } from '../../../protocol/errors.ts';
import type { TransientEvent } from '../../../protocol/events/transient.ts';
import type { QueuedMessage } from '../../../protocol/queue/queue-methods.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import type { EventLog } from '../events/event-log.ts';
import { lesserOf, type Sender } from '../rights.ts';
import type { QueuedRun, RunQueue } from '../runs/run-queue.ts';
import type { RunRecord, RunRequest } from '../runs/run-record.ts';
import type { RunTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { editorsAfter } from './authors.ts';

/** Changes to messages that wait. Each is stored before it is answered. */
export interface QueueChanges {
  /** The message then comes from whoever edited it, with the lesser rights of its authors. */
  edit(queue: RunQueue, change: { runId: string; message: string }, by: Sender): Promise<void>;
  move(queue: RunQueue, runId: string, to: number): Promise<void>;
  /** The run in progress takes it at its next turn. */
  steer(queue: RunQueue, runId: string): Promise<void>;
}

interface QueueChangesDeps {
  store: Store;
  events: Pick<EventLog, 'transient'>;
}

export function createQueueChanges({ store, events }: QueueChangesDeps): QueueChanges {
  const changes = createChanges({ store, events });
  // Of the same message one after the other: a change that cannot be stored takes back only itself.
  const oneByOne = createSerialKeys();
  return {
    edit: (queue, change, by) => oneByOne.run(change.runId, () => changes.edit(queue, change, by)),
    steer: (queue, runId) => oneByOne.run(runId, () => changes.steer(queue, runId)),
    move: changes.move,
  };
}

const createChanges = ({ store, events }: QueueChangesDeps): QueueChanges => ({
  async edit(queue, { runId, message }, by) {
    const { run } = getQueued(queue, runId);
    const { sender: _former, ...before } = run.request;
    const text = message.trim();
    if (run.source !== 'person') throw new GatewayError('CONFLICT', 'Only messages of people can be edited');
    if (text === '' && !before.attachments) throw new GatewayError('INVALID_REQUEST', 'Empty message');
    const given = before.rights && { rights: lesserOf(before.rights, by.rights) };
    // Its run acts for whose words it answers, and with that user's accounts.
    const sender = by.sender !== undefined && { sender: by.sender };
    const editedBy = editorsAfter(run, by.principal);
    const editors = editedBy && { editedBy };
    await replaceRequest(store, { queue, run }, { ...before, ...given, ...sender, ...editors, message: text });
    tellQueued(events, queue, [runId]);
  },
  async steer(queue, runId) {
    const { run } = getQueued(queue, runId);
    if (run.source !== 'person') throw new GatewayError('CONFLICT', 'Only messages of people can steer a run');
    if (run.request.outputSchema) {
      throw new GatewayError(
        'CONFLICT',
        'A message with an outputSchema cannot steer a run: its answer is data of its own',
      );
    }
    await replaceRequest(store, { queue, run }, { ...run.request, steer: true });
    tellQueued(events, queue, [runId]);
  },
  async move(queue, runId, to) {
    const item = getQueued(queue, runId);
    const before = queue.all().map(({ run }) => ({ run, acceptedMs: run.acceptedMs }));
    queue.move(item, to);
    const moved = before.filter(({ run, acceptedMs }) => run.acceptedMs !== acceptedMs);
    if (moved.length === 0) return;
    try {
      await store.commit({
        statements: moved.map(({ run }) => change(run.runId, { accepted_ms: run.acceptedMs })),
      });
    } catch (error) {
      for (const { run, acceptedMs } of before) run.acceptedMs = acceptedMs;
      queue.sort();
      throw error;
    }
    tellQueued(events, queue);
  },
});

/** Repeats messages to event streams as they wait now, in their order; default: all. */
function tellQueued(events: QueueChangesDeps['events'], queue: RunQueue, runIds?: readonly string[]): void {
  for (const { run } of queue.stored()) {
    if (runIds?.includes(run.runId) === false) continue;
    events.transient(run.wsId, JSON.stringify(toQueuedEvent(run)), run.runId);
  }
}

async function replaceRequest(
  store: Store,
  { queue, run }: { queue: RunQueue; run: RunRecord },
  request: RunRequest,
): Promise<void> {
  const before = run.request;
  // Changed before the commit: if the message is sent meanwhile, it is sent as it is stored.
  run.request = request;
  try {
    await store.commit({ statements: [change(run.runId, { request_json: JSON.stringify(request) })] });
  } catch (error) {
    run.request = before;
    throw error;
  } finally {
    queue.sort();
  }
}

/** The waiting messages, as clients see them. */
export const toQueuedMessages = (queue: RunQueue): QueuedMessage[] =>
  queue.stored().map(({ run: { runId, source, request } }) => ({
    runId,
    source,
    message: request.message,
    ...(request.sender !== undefined && { sender: request.sender }),
    ...(request.attachments && { attachments: request.attachments }),
    ...(request.steer && { steer: true }),
    ...(queue.held !== undefined && { held: queue.held }),
  }));

/** A waiting message, as event streams show it. */
export const toQueuedEvent = ({ runId, request }: RunRecord): TransientEvent => ({
  type: 'message_queued',
  message: request.message,
  priority: request.steer ? 'important' : 'notice',
  msg_id: runId,
});

/** The same message when it no longer waits: `runId` answers it. */
export const toDispatchedEvent = (msgId: string, runId: string): TransientEvent => ({
  type: 'message_dispatched',
  msg_id: msgId,
  run_id: runId,
});

/** The same message when it will not be sent. */
export const toDroppedEvent = (msgId: string): TransientEvent => ({ type: 'message_dropped', msg_id: msgId });

function getQueued(queue: RunQueue, runId: string): QueuedRun {
  const item = queue.find(runId);
  if (!item) throw new GatewayError('NOT_FOUND', 'That message no longer waits: it was sent or taken back');
  return item;
}

/** Refused if the run has begun. */
const change = (runId: string, columns: Partial<Pick<RunTable, 'request_json' | 'accepted_ms'>>): Statement =>
  statementOf(build.updateTable('runs').set(columns).where('run_id', '=', runId).where('status', '=', 'queued'), 1);
