import { systemTimers } from '../../../protocol/client/timers.ts';
import type { ConnectionStatus, GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Mode } from '../../../protocol/events/modes.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { randomIds } from '../../ids.ts';
import { NoDaemonError, UsageError } from '../../start-error.ts';
import { readVersion } from '../../version.ts';
import { openClient, resolveTarget, type TargetFlags } from '../connect.ts';
import { findWorkstream } from '../find-workstream.ts';
import { readStdin } from '../input/read-input.ts';
import { describesNew, existsAlready, toNewWorkstream } from '../new-workstream.ts';
import type { ApproveChoice } from '../run/approval-policy.ts';
import { createApprovals } from '../run/approvals.ts';
import { type ContinueFlags, findContinued } from '../run/continued-workstream.ts';
import { followRun, type RunEnd } from '../run/follow-run.ts';
import { readSchema } from '../run/read-schema.ts';
import { createJsonOutput, createTextOutput } from '../run/run-output.ts';
import { createStopping, type StopCause } from '../run/stopping.ts';
import { untilAnswered } from '../until-answered.ts';
import { createUpload, readAttachment, type Upload } from '../upload.ts';

export interface RunFlags extends TargetFlags, ContinueFlags {
  ws?: string | undefined;
  json?: boolean | undefined;
  approve: ApproveChoice;
  timeout?: string | undefined;
  workdir?: string | undefined;
  model?: string | undefined;
  mode?: Mode | undefined;
  machineLabel?: readonly string[] | undefined;
  key?: string | undefined;
  attach?: readonly string[] | undefined;
  schema?: string | undefined;
  /** The same as `schema`. */
  outputSchema?: string | undefined;
  answer?: readonly string[] | undefined;
}

interface RunOptions {
  /** Joined by blank lines; `-` stands for the content of stdin. */
  prompts: readonly string[];
  flags: RunFlags;
  around: Surroundings;
  root: URL;
}

/** How long to wait for a daemon that went away. */
const AWAY_MS = 120_000;

/** One message and its answer, for scripts. */
export async function run({ prompts, flags, around, root }: RunOptions): Promise<void> {
  const message = await toMessage(prompts);
  const timeoutMs = toTimeout(flags.timeout);
  requireShort(flags.answer ?? []);
  const schemaFile = flags.outputSchema ?? flags.schema;
  const schema = schemaFile === undefined ? undefined : await readSchema(schemaFile, around);
  const files = await readAll(flags.attach ?? [], around);
  const target = await resolveTarget(flags, around);
  const away = watchAway();
  const client = await openClient({ target, version: await readVersion(root) }, away.onStatus);
  try {
    await Promise.race([
      runWith(client, { message, schema, timeoutMs, files, flags, around, upload: createUpload(target) }),
      away.gone,
    ]);
  } finally {
    client.close();
  }
}

/** `gone` rejects when the connection is refused for good, or lost for too long. */
function watchAway(): { onStatus(status: ConnectionStatus): void; gone: Promise<never> } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined); // it may reject before `run` awaits it, which is not an unhandled rejection
  let cancel: (() => void) | undefined;
  const giveUp = () =>
    reject(new NoDaemonError('No connection to the daemon for two minutes; the run continues there.'));
  return {
    gone: promise,
    onStatus(status) {
      if (status.kind === 'waiting') cancel ??= systemTimers.after(AWAY_MS, giveUp);
      else if (status.kind !== 'connecting') {
        cancel?.();
        cancel = undefined;
      }
      if (status.kind === 'closed' && status.error) reject(status.error);
    },
  };
}

async function toMessage(prompts: readonly string[]): Promise<string> {
  const { stdin } = process;
  if (prompts.length === 0 && stdin.isTTY)
    throw new UsageError('The prompt is missing. Example: headgate run "say hello"');
  const piped = prompts.length === 0 || prompts.includes('-') ? await readStdin(LIMITS.maxPayloadBytes) : '';
  const parts = prompts.length === 0 ? [piped] : prompts.map((prompt) => (prompt === '-' ? piped : prompt));
  const message = parts.join('\n\n').trim();
  if (message === '') throw new UsageError('The prompt is empty.');
  return message;
}

function toTimeout(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (!/^\d{1,6}(\.\d+)?$/.test(seconds) || Number(seconds) === 0) {
    throw new UsageError(`--timeout must be a number of seconds above 0, not "${seconds}".`);
  }
  return Number(seconds) * 1000;
}

/** The daemon would refuse a longer one while the question waits. */
function requireShort(answers: readonly string[]): void {
  const long = answers.find(({ length }) => length > LIMITS.answerChars);
  if (long !== undefined)
    throw new UsageError(`--answer has ${long.length} characters; an answer has at most ${LIMITS.answerChars}.`);
}

interface Job {
  message: string;
  schema: Record<string, unknown> | undefined;
  timeoutMs: number | undefined;
  files: readonly File[];
  flags: RunFlags;
  around: Surroundings;
  upload: Upload;
}

async function runWith(client: GatewayClient, job: Job): Promise<void> {
  const { message, schema, timeoutMs, flags, around } = job;
  const key = flags.key ?? randomIds.id('run');
  const { wsId, isOwn } = await chooseWorkstream(client, { flags, around, key });
  const attachmentIds = await uploadAll(job, { wsId, key }).catch(async (error: unknown) => {
    // A workstream created under --key may serve an earlier call with this key, and a repeat uses it again.
    if (isOwn && flags.key === undefined) await removeUnused(client, wsId);
    throw error;
  });
  const streams = {
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
  };
  const { rows = 50, columns = 120 } = process.stderr; // a file or a pipe has no size
  const isTerminal = process.stdout.isTTY;
  const output =
    flags.json === true
      ? createJsonOutput(streams)
      : createTextOutput(streams, { isStreaming: isTerminal && !schema, isTerminal, size: { rows, columns } });
  const startMs = systemTimers.now();
  const stopping = createStopping({ client, wsId, leave: () => process.exit(EXIT.interrupted) });
  using _ctrlC = stopping.listen();
  const approvals = createApprovals({
    client,
    choice: flags.approve,
    answers: flags.answer ?? [],
    output,
    onInterrupt: stopping.interrupt,
  });
  const followed = await followRun({
    client,
    wsId,
    message,
    outputSchema: schema,
    attachmentIds,
    key,
    onBegin: (runId) => output.onBegin({ wsId, runId }),
    onEvent(event) {
      if (event.type === 'approval_resolved') approvals.onResolved(event);
      output.onEvent(event);
    },
    onQuestion: approvals.onQuestion,
  });
  using _stop = stopping.watch(followed, timeoutMs);
  const end = await followed.ended;
  approvals.close();
  followed.close();
  const exitCode = toExitCode(end, { reason: stopping.reason(), denied: approvals.denied() });
  const durationMs = Math.round(systemTimers.now() - startMs);
  output.onEnd({ ...end, exitCode, wsId, runId: followed.runId, durationMs, denied: approvals.denied() });
  process.exitCode = exitCode;
  if (isOwn) await client.call('workstream.close', { wsId }).catch(() => undefined); // only cleanup
}

/** Reads all files before anything is created: a file that cannot be attached leaves no trace. */
async function readAll(names: readonly string[], around: Surroundings): Promise<File[]> {
  if (names.length > LIMITS.attachmentsPerMessage) {
    throw new UsageError(
      `--attach names ${names.length} files; a message takes at most ${LIMITS.attachmentsPerMessage}.`,
    );
  }
  const files: File[] = [];
  for (const name of names) files.push(await readAttachment(name, around));
  return files;
}

/** A file's position is part of its key: a repeat gets the same attachments, and a file may be given twice. */
async function uploadAll(
  { files, upload }: Pick<Job, 'files' | 'upload'>,
  { wsId, key }: { wsId: string; key: string },
): Promise<string[]> {
  const ids: string[] = [];
  for (const [place, file] of files.entries()) ids.push((await upload(wsId, file, `${key} ${place}`)).attachment_id);
  return ids;
}

/** Removes a workstream that has no messages. */
async function removeUnused(client: GatewayClient, wsId: string): Promise<void> {
  const close = () => client.call('workstream.close', { wsId }); // without the right to delete, close it
  const removed = client.call('sessions.delete', { key: wsId }).catch(close);
  await removed.catch(() => undefined); // the earlier error is the one to report
}

/** The workstream of `--ws`, created if necessary. Without `--ws`, a separate one, which is closed afterwards. */
async function chooseWorkstream(
  client: GatewayClient,
  { flags, around, key }: { flags: RunFlags; around: Surroundings; key: string },
): Promise<{ wsId: string; isOwn: boolean }> {
  const continued = await findContinued(client, flags, around);
  if (continued !== undefined) return { wsId: continued, isOwn: false };
  const { ws } = flags;
  const existing = ws === undefined ? undefined : await findWorkstream(client, ws);
  if (existing !== undefined) {
    if (describesNew(flags)) {
      throw new UsageError(existsAlready(ws));
    }
    return { wsId: existing, isOwn: false };
  }
  const { wsId } = await untilAnswered(() =>
    client.call('workstream.create', {
      ...toNewWorkstream(flags, around),
      idempotencyKey: key,
    }),
  );
  // A repeated key returns the workstream of the first call, which may have been closed since.
  if (flags.key !== undefined) await findWorkstream(client, wsId);
  return { wsId, isOwn: ws === undefined };
}

function toExitCode({ status }: RunEnd, { reason, denied }: { reason: StopCause | undefined; denied: number }): number {
  if (reason === 'timeout' && status !== 'ok') return EXIT.timeout;
  if (reason === 'interrupted' || status === 'cancelled') return EXIT.interrupted;
  if (status === 'timeout') return EXIT.timeout;
  if (status !== 'ok') return EXIT.failed;
  return denied > 0 ? EXIT.denied : EXIT.ok;
}
