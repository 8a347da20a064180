import { askOnce } from '../../../protocol/client/ask-once.ts';
import { NotConnectedError, RequestError } from '../../../protocol/client/request-error.ts';
import type { SubscriptionOptions } from '../../../protocol/client/subscriptions.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { ParamsInput, Result } from '../../../protocol/index.ts';
import { isBusy } from '../../../protocol/is-busy.ts';
import type { Attachment, StatusRecord, StreamEvent } from '../../../protocol/stream-events.ts';
import { type ModelWait, toWaitLine } from '../../../protocol/text/wait-words.ts';
import { isDecidedAlready } from '../decided-already.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { untilAnswered } from '../until-answered.ts';
import type { ChatFiles } from './chat-files.ts';
import { type ChatQueue, followQueue, toQueuedText } from './chat-queue.ts';
import { type ChatSettings, followSettings } from './chat-settings.ts';
import { createTranscript } from './logged-transcript.ts';
import { followWaits } from './model-wait.ts';
import type { Transcript, TranscriptDeps } from './transcript.ts';

/** Messages that are read at once. */
const PAGE = 200;

interface TalkDeps extends Pick<TranscriptDeps, 'screen' | 'sheet' | 'here' | 'grow' | 'isInteractive'> {
  client: GatewayClient;
  wsId: string;
  newKey(): string;
  files: ChatFiles;
  /** Called when the first snapshot has arrived, before anything of it is printed. */
  onOpen?(talk: Talk): void;
  /** Called when a message with images was printed. */
  onImages?(images: readonly Attachment[], talk: Talk): void;
  /** Called after every change. */
  onChange(): void;
  /** The workstream can no longer be followed, such as after its deletion. Not called before the first snapshot. */
  onEnd?(error: unknown): void;
}

/** `busy`: a run is in progress, and the message was not accepted. */
export type SendOutcome = 'sent' | 'busy';

/** One workstream that this client follows and acts in. */
export interface Talk {
  readonly transcript: Transcript;
  readonly settings: ChatSettings;
  readonly usage: StatusRecord | undefined;
  /** Why the model is asked again later, and when. */
  readonly wait: ModelWait | undefined;
  readonly queue: ChatQueue;
  /** How many snapshots have come: one at the beginning, and one whenever events were lost. */
  readonly snapshots: number;
  /** Resolves with the first snapshot; rejects when the workstream cannot be followed. */
  readonly opened: Promise<void>;
  /** During a run, a message waits with `queue`; with `steer`, the model reads it before its next step. */
  send(message: string, how?: { queue: true } | { steer: true }): Promise<SendOutcome>;
  /** Whether the run of the last message has ended, asked of the daemon: its events may be lost. */
  hasEnded(): Promise<boolean>;
  /** Attaches a file to the next message. */
  attach(file: string): Promise<Attachment>;
  /** Attaches the files that the next message names, each under what names it. Replaces those of an earlier try. */
  attachFiles(files: readonly { label: string; file: File }[]): Promise<void>;
  /** Attaches the output of a command to the next message. */
  attachOutput(file: File): Promise<void>;
  /** Writes the conversation to a new file. */
  exportTo(file: string): Promise<void>;
  /** Makes a new workstream from an exported conversation. */
  importFrom: ChatFiles['importFrom'];
  /** A page of the stored conversation: the end, or what comes before a message. */
  readPage(before: number | undefined): Promise<Result<'workstream.history'>>;
  command(line: string): Promise<void>;
  cancel(force: boolean): Promise<void>;
  /** Ends a wait for the model. */
  tryNow(): Promise<void>;
  decide(decision: ParamsInput<'approval.resolve'>): Promise<void>;
  /** The daemon sends no more events of a workstream that was closed or hidden: `onEnd` says so, or they go on. */
  followAgain(): void;
  close(): void;
}

/** Starts to follow the workstream. */
export function openTalk(deps: TalkDeps): Talk {
  const { client, wsId, newKey, onChange, screen, sheet, here, grow, isInteractive } = deps;
  const [runs, decisions] = [new Set<string>(), new Set<string>()];
  const remarks = createRemarks(decisions);
  const isMyRun = (runId: string) => runs.has(runId) || remarks.isShown();
  const queue = followQueue({ client, wsId, newKey, onChange });
  const isMyDecision = (approvalId: string) => decisions.has(approvalId);
  const transcript = createTranscript({ screen, sheet, here, grow, isInteractive, isMyRun, isMyDecision });
  const waits = followWaits((wait) => {
    if (!isInteractive) transcript.print([toSafeText(wait.message), toSafeText(toWaitLine(wait))]);
  });
  const settings = followSettings((lines) => transcript.print(lines), sheet);
  let usage: StatusRecord | undefined;
  const opened = Promise.withResolvers<void>();
  const tellImages = (attachments: readonly Attachment[] = []) => {
    const images = attachments.filter(({ kind }) => kind === 'image');
    if (images.length > 0) deps.onImages?.(images, talk);
  };
  let snapshots = 0;
  const listening = (after?: string): SubscriptionOptions => ({
    after,
    onSnapshot(snapshot) {
      settings.open(snapshot);
      usage = snapshot.status;
      if (snapshots === 0) deps.onOpen?.(talk);
      snapshots += 1;
      waits.reset();
      transcript.onSnapshot(snapshot);
      opened.resolve();
      queue.read();
      onChange();
    },
    onEvent(event) {
      if (event.type === 'status') usage = event;
      for (const part of [settings, remarks, waits]) part.read(event);
      transcript.onEvent(event);
      if ('attachments' in event) tellImages(event.attachments);
      onChange();
    },
    onReset: () => transcript.print(['(Reconnected, but some events are missing. The conversation so far:)']),
    onError: (error) => (snapshots === 0 ? opened.reject(error) : deps.onEnd?.(error)),
  });
  let subscription = client.subscribe(wsId, listening());
  const talk: Talk = {
    transcript,
    get settings() {
      return settings.current;
    },
    get wait() {
      return waits.current;
    },
    get usage() {
      return usage;
    },
    get snapshots() {
      return snapshots;
    },
    queue,
    opened: opened.promise,
    ...createSending(deps, runs),
    ...createStored(deps),
    ...createControls({ client, wsId, transcript, queue }),
    decide: (decision) => decide(client, decision, decisions),
    followAgain() {
      subscription = client.subscribe(wsId, listening(subscription.cursor));
    },
    close() {
      queue.close();
      subscription.close();
    },
  };
  return talk;
}

/** What is stored of the conversation, and its files. */
const createStored = ({
  client,
  wsId,
  files,
}: Pick<TalkDeps, 'client' | 'wsId' | 'files'>): Pick<Talk, 'exportTo' | 'importFrom' | 'readPage'> => ({
  exportTo: (file) => files.exportTo(wsId, file),
  importFrom: files.importFrom,
  readPage: (before) => untilAnswered(() => client.call('workstream.history', { wsId, limit: PAGE, before })),
});

/** What acts on the workstream at once. */
const createControls = ({
  client,
  wsId,
  transcript,
  queue,
}: Pick<TalkDeps, 'client' | 'wsId'> & Pick<Talk, 'transcript' | 'queue'>): Pick<
  Talk,
  'command' | 'cancel' | 'tryNow'
> => ({
  async command(line) {
    await askOnce(() => client.call('workstream.command', { wsId, command: line }));
  },
  async cancel(force) {
    const waiting = queue.waiting.filter(({ source }) => source === 'person');
    const tell = (what: string) => {
      if (waiting.length > 0)
        transcript.print(waiting.map((message) => `(${what}) ${toSafeText(toQueuedText(message))}`));
    };
    // Later, or repeated, it might stop a run that began since.
    await askOnce(() => client.call('workstream.cancel', { wsId, force }, { atOnce: true })).catch((error: unknown) => {
      if (!(error instanceof RequestError || error instanceof NotConnectedError)) tell('perhaps not sent');
      throw error;
    });
    tell('not sent');
  },
  async tryNow() {
    await untilAnswered(() => client.call('workstream.proceed', { wsId }));
  },
});

async function decide(
  client: GatewayClient,
  decision: ParamsInput<'approval.resolve'>,
  decisions: Set<string>,
): Promise<void> {
  decisions.add(decision.approvalId);
  await untilAnswered(() => client.call('approval.resolve', decision)).catch((error: unknown) => {
    if (isDecidedAlready(error)) return;
    decisions.delete(decision.approvalId);
    throw error;
  });
}

/** Recognizes this client's remarks: each returns as a message, in a run that another client may have started. */
function createRemarks(decisions: ReadonlySet<string>): { read(event: StreamEvent): void; isShown(): boolean } {
  let remark = '';
  let isShown = false;
  return {
    read(event) {
      if (event.type === 'approval_resolved' && event.approved) {
        remark = decisions.has(event.approval_id) ? event.feedback : '';
      }
      isShown = event.type === 'user_turn' && remark !== '' && event.message === remark;
    },
    isShown: () => isShown,
  };
}

/** Sends messages, and collects the attachments of the next one. */
function createSending(
  { client, wsId, newKey, files }: Pick<TalkDeps, 'client' | 'wsId' | 'newKey' | 'files'>,
  runs: Set<string>,
): Pick<Talk, 'send' | 'hasEnded' | 'attach' | 'attachFiles' | 'attachOutput'> {
  let attached: readonly { id: string; label?: string }[] = [];
  let lastRun: string | undefined;
  const add = async (file: File, label?: string) => {
    const { attachment_id: id } = await files.uploadFile(wsId, file, newKey());
    attached = [...attached, { id, ...(label !== undefined && { label }) }];
  };
  return {
    async attach(file) {
      const attachment = await files.upload(wsId, file, newKey());
      attached = [...attached, { id: attachment.attachment_id }];
      return attachment;
    },
    async attachFiles(named) {
      attached = attached.filter(({ label }) => label === undefined || named.some((one) => one.label === label));
      for (const { label, file } of named) if (!attached.some((one) => one.label === label)) await add(file, label);
    },
    attachOutput: (file) => add(file),
    async send(message, how) {
      const idempotencyKey = newKey();
      runs.add(idempotencyKey); // becomes the run's id
      const sent = attached.length > 0 && { attachmentIds: attached.map(({ id }) => id) };
      const params = { wsId, message, ...how, ...sent, idempotencyKey };
      const { status } = await untilAnswered(() => client.call('workstream.send', params));
      if (status === 'busy') return 'busy';
      attached = [];
      lastRun = idempotencyKey;
      return 'sent';
    },
    async hasEnded() {
      if (lastRun === undefined) return true;
      const asked = { runId: lastRun, timeoutMs: 0 };
      const { status } = await untilAnswered(() => client.call('agent.wait', asked));
      return status !== 'timeout';
    },
  };
}

export const isTalkBusy = ({ transcript }: Pick<Talk, 'transcript'>): boolean => isBusy(transcript.state);
