import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { isDeeper } from '../../../protocol/is-record.ts';
import type { OutputError } from '../../../protocol/run-outcome.ts';
import type { Clock } from '../../clock.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { withDeadline } from '../process/deadline.ts';
import { StopReason } from '../stop-reason.ts';
import { toJsonText } from './answer-json.ts';
import type { OutputMessage, OutputTask } from './output-worker.ts';

/** A JSON Schema of a caller for the answer of a run. */
export type OutputSchema = Record<string, unknown>;

/** An answer that fits its schema, or what does not fit. */
export type CheckedOutput = { fits: true; output: unknown } | { fits: false; errors: OutputError[] };

/** Checks schemas of callers, and answers against them. */
export interface OutputChecks {
  /** Why the schema cannot be used; undefined if it can. */
  problemOf(schema: OutputSchema, signal: AbortSignal): Promise<string | undefined>;
  check(answer: { schema: OutputSchema; text: string }, signal: AbortSignal): Promise<CheckedOutput>;
}

interface OutputChecksDeps {
  clock: Clock;
  /** Where output-worker lies in this build. */
  workerUrl: URL;
}

const MAX_SCHEMA_BYTES = 32 * 1024;
const MAX_OUTPUT_BYTES = 256 * 1024;
const MAX_OUTPUT_DEPTH = 64;
/** Of processor time: on a busy machine, others use the processor meanwhile. */
const DEADLINE_MS = 2_000;
/** How long the worker may take to start, and a check in all. */
const LONGEST_MS = 30_000;
/** How soon the time of a check that is not over is looked at again. */
const LOOK_MS = 100;
/** Checks wait for each other in so many rows, so that expensive schemas cannot take all processors. */
const ROWS = 2;

/**
 * Checks run in a worker with limits of time and memory, because a schema may be made to harm: its patterns may take
 * forever, and the library compiles it to code.
 */
export function createOutputChecks({ clock, workerUrl }: OutputChecksDeps): OutputChecks {
  const rows = createSerialKeys();
  let count = 0;
  const inWorker = (task: OutputTask, signal: AbortSignal): Promise<OutputMessage> =>
    rows.run(String(count++ % ROWS), () => runInTime(task, { clock, workerUrl, signal }));
  return {
    async problemOf(schema, signal) {
      const bytes = Buffer.byteLength(JSON.stringify(schema));
      if (bytes > MAX_SCHEMA_BYTES) return `it has ${bytes} bytes; at most ${MAX_SCHEMA_BYTES} are allowed`;
      const checked = await inWorker({ schema }, signal);
      return checked.kind === 'unusable' ? checked.reason : undefined;
    },
    async check({ schema, text }, signal) {
      const json = toJsonText(text);
      if (json === undefined) return misfit('must be JSON, without any other text');
      if (Buffer.byteLength(json) > MAX_OUTPUT_BYTES) return misfit(`must have at most ${MAX_OUTPUT_BYTES} bytes`);
      const output: unknown = JSON.parse(json);
      if (isDeeper(output, MAX_OUTPUT_DEPTH)) return misfit(`must be nested at most ${MAX_OUTPUT_DEPTH} levels deep`);
      const checked = await inWorker({ schema, json }, signal);
      if (checked.kind === 'fits') return { fits: true, output };
      return checked.kind === 'errors' ? { fits: false, errors: checked.errors } : misfit(checked.reason);
    },
  };
}

const misfit = (message: string): CheckedOutput => ({ fits: false, errors: [{ path: '', message }] });

type Within = OutputChecksDeps & { signal: AbortSignal };

/** Rejects with the signal's reason. */
async function runInTime(task: OutputTask, { clock, workerUrl, signal }: Within): Promise<OutputMessage> {
  signal.throwIfAborted();
  const worker = new Worker(workerUrl, {
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  try {
    await messageOf<'ready'>(worker, { clock, signal, ms: LONGEST_MS });
    using limit = limitTime(worker, { clock, signal });
    worker.postMessage(task);
    return await messageOf<OutputMessage>(worker, { clock, signal: limit.signal, ms: LONGEST_MS });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StopReason && error.kind === 'timeout')
      return { kind: 'unusable', reason: `the check took longer than ${DEADLINE_MS / 1_000} s` };
    if (isOutOfMemory(error)) return { kind: 'unusable', reason: 'the check needs too much memory' };
    throw error;
  } finally {
    await worker.terminate();
  }
}

/** Aborts once the worker has used its time. */
function limitTime(worker: Worker, { clock, signal }: Pick<Within, 'clock' | 'signal'>) {
  const over = new AbortController();
  const ended = new AbortController();
  const watch = async () => {
    let leftMs = DEADLINE_MS;
    while (leftMs > 0) {
      await clock.sleep(Math.max(leftMs, LOOK_MS), ended.signal);
      leftMs = DEADLINE_MS - (await usedMs(worker));
    }
    over.abort(new StopReason('timeout', `it has used ${DEADLINE_MS} ms`));
  };
  watch().catch(() => undefined); // the check has ended
  return { signal: AbortSignal.any([signal, over.signal]), [Symbol.dispose]: () => ended.abort() };
}

/** Before Node 24.6, all time counts as used. */
async function usedMs(worker: Worker): Promise<number> {
  if (!('cpuUsage' in worker)) return DEADLINE_MS;
  const { user, system } = await worker.cpuUsage();
  return (user + system) / 1_000;
}

/** Rejects with the reason of the signal, a timeout, or an error of the worker, such as the end of its memory. */
async function messageOf<Message>(
  worker: Worker,
  { clock, signal, ms }: { clock: Clock; signal: AbortSignal; ms: number },
): Promise<Message> {
  using deadline = withDeadline(signal, { clock, ms });
  try {
    const [message] = await once(worker, 'message', { signal: deadline.signal });
    return message;
  } catch (error) {
    deadline.signal.throwIfAborted();
    throw error;
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
