import type { ContentBlock, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { isUnanswered } from '../../../protocol/client/is-unanswered.ts';
import { RequestError } from '../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import { isBusy } from '../../../protocol/is-busy.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
import { isCommand } from '../chat/commands/slash-commands.ts';
import { untilAnswered } from '../until-answered.ts';
import type { Upload } from '../upload.ts';
import { EventFlow } from './event-flow.ts';
import { EventUpdates, toPlan } from './event-updates.ts';
import { replay } from './history-updates.ts';
import type { Outgoing } from './outgoing.ts';
import { toPromptContent } from './prompt-content.ts';
import { Asking } from './questions/asking.ts';
import type { Editor } from './questions/questions.ts';
import { createSessionSettings, readModels, type SessionSettings } from './session-settings.ts';
import { type RunEnd, toPromptResponse } from './stop-reason.ts';
import { toBlock } from './text-content.ts';

export interface SessionDeps {
  client: Pick<GatewayClient, 'call' | 'subscribe'>;
  wsId: string;
  upload: Upload;
  outgoing: Outgoing;
  /** How questions reach the person; `signal` takes them back. */
  editorWith(signal: AbortSignal): Editor;
  newKey(): string;
  /** Prints a line for people; not part of the protocol. */
  tell(line: string): void;
  /** The workstream cannot be followed any longer. */
  onEnd(): void;
}

/** A prompt that is not answered yet. */
interface Turn {
  runId: string;
  isCancelled: boolean;
  ended: PromiseWithResolvers<RunEnd>;
}

/** How long a cancelled run may take to end before its prompt is answered without it. */
const CANCEL_MS = 10_000;

/** One workstream as a session of an editor. */
export class Session {
  readonly settings: SessionSettings = createSessionSettings();
  readonly #deps: SessionDeps;
  readonly #flow: EventFlow;
  readonly #asking: Asking;
  readonly #updates: EventUpdates;
  readonly #turns = new Set<Turn>();
  readonly #opened = Promise.withResolvers<void>();
  #place = { workdir: '/' };
  #snapshots = 0;
  #wantsReplay = false;
  #isClosed = false;
  /** The runs that have begun, by id, with their ends. */
  readonly #running = new Map<string, PromiseWithResolvers<RunEnd>>();

  constructor(deps: SessionDeps) {
    const { client, wsId, outgoing, editorWith } = deps;
    this.#deps = deps;
    this.#updates = new EventUpdates({
      place: () => this.#place,
      isOwn: (runId) => this.#turnOf(runId) !== undefined,
    });
    this.#asking = new Asking({
      client,
      editorWith,
      place: () => this.#place,
      say: (text) =>
        void outgoing.send([{ sessionUpdate: 'agent_message_chunk', content: toBlock(`\n\n${text}\n\n`) }]),
    });
    this.#flow = new EventFlow({
      client,
      wsId,
      onSnapshot: (snapshot) => this.#onSnapshot(snapshot),
      onEvent: (event) => this.#onEvent(event),
      onError: (error) => this.#fail(error),
    });
    this.#opened.promise.catch(() => undefined);
  }

  /** Follows the workstream; `replays` sends the conversation so far first. */
  async open({ replays }: { replays: boolean }): Promise<void> {
    this.#wantsReplay = replays;
    this.#flow.open();
    await this.#opened.promise;
  }

  close(): void {
    this.#isClosed = true;
    this.#opened.reject(new Error('The session was closed, or loaded again, before it was open'));
    this.#flow.close();
    this.#asking.close();
    for (const turn of this.#turns) turn.ended.resolve({ status: 'cancelled' });
    this.#endAll({ status: 'cancelled' });
  }

  /** Whether a prompt is not answered yet. */
  get isPrompted(): boolean {
    return this.#turns.size > 0;
  }

  /** Sends a prompt and waits for the end of its run. Aborting `signal` cancels it. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const content = toPromptContent(blocks);
    const turn: Turn = { runId: this.#deps.newKey(), isCancelled: false, ended: Promise.withResolvers() };
    turn.ended.promise.catch(() => undefined); // it may reject before it is waited for
    const onAbort = () => void this.cancel().catch(() => undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#turns.add(turn);
    try {
      const isTyped = content.files.length === 0 && isCommand(content.message);
      const end = await (isTyped ? this.#command(content.message, turn) : this.#send(content, turn));
      return turn.isCancelled ? { stopReason: 'cancelled' } : toPromptResponse(end);
    } finally {
      this.#turns.delete(turn);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Stops the run in progress, and drops what waits for it. */
  async cancel(): Promise<void> {
    const { client, wsId } = this.#deps;
    const turns = [...this.#turns];
    for (const turn of turns) turn.isCancelled = true;
    try {
      await client.call('workstream.cancel', { wsId }, { atOnce: true });
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      // Only these: if the first call has worked, another run may be in progress.
      for (const { runId } of turns) await untilAnswered(() => client.call('chat.abort', { sessionKey: wsId, runId }));
    }
    await Promise.all(turns.map((turn) => this.#waitFor(turn, CANCEL_MS)));
  }

  async change(change: Omit<ParamsInput<'workstream.update'>, 'wsId'>): Promise<void> {
    const { client, wsId } = this.#deps;
    await client.call('workstream.update', { wsId, ...change });
    await this.#catchUp();
  }

  async #send({ message, files }: { message: string; files: File[] }, turn: Turn): Promise<RunEnd> {
    const { client, wsId, upload } = this.#deps;
    const { runId: key } = turn;
    const uploaded = await Promise.all(files.map((file, index) => upload(wsId, file, `${key} ${index}`)));
    const attachmentIds = uploaded.map(({ attachment_id }) => attachment_id);
    if (turn.isCancelled) return { status: 'cancelled' };
    const params = { sessionKey: wsId, message, idempotencyKey: key, ...(files.length > 0 && { attachmentIds }) };
    const { runId, status } = await untilAnswered(() => client.call('chat.send', params));
    turn.runId = runId;
    // It was cancelled while the message was on its way, or the answer to it was lost and its run is over.
    if (turn.isCancelled) await this.cancel();
    else if (status === 'ok' || status === 'error') await this.#waitFor(turn, 0);
    return turn.ended.promise;
  }

  /** A command may begin a run, such as `/retry`; its prompt ends with it. */
  async #command(command: string, turn: Turn): Promise<RunEnd> {
    const { client, wsId } = this.#deps;
    const before = new Set(this.#running.keys()); // these belong to other prompts and clients
    const { error } = await client.call('workstream.command', { wsId, command });
    await this.#catchUp();
    const begun = [...this.#running].findLast(([runId]) => !before.has(runId));
    if (error !== undefined || begun === undefined) return { status: 'ok' };
    [turn.runId] = begun;
    if (turn.isCancelled) await this.cancel(); // it was cancelled before its run was known
    return Promise.race([begun[1].promise, turn.ended.promise]);
  }

  /** Waits until everything that the daemon has logged before the turn in progress was sent to the editor. */
  async #catchUp(): Promise<void> {
    const { client, wsId } = this.#deps;
    const { cursor } = await untilAnswered(() => client.call('workstream.get', { wsId }));
    await this.#flow.reached(cursor);
  }

  /** Ends a turn whose run is over, also if its last events were lost or never came. */
  async #waitFor(turn: Turn, timeoutMs: number): Promise<void> {
    const { client } = this.#deps;
    try {
      const asked = { runId: turn.runId, timeoutMs };
      const { status, error } = await untilAnswered(() => client.call('agent.wait', asked));
      if (status === 'timeout' && !turn.isCancelled) return;
      await this.#catchUp();
      turn.ended.resolve({
        status: status === 'timeout' ? 'cancelled' : status,
        ...(error !== undefined && { error }),
      });
    } catch (error) {
      if (!turn.isCancelled) throw error;
      turn.ended.resolve({ status: 'cancelled' }); // it was dropped before it began
    }
  }

  #turnOf(runId: string): Turn | undefined {
    return [...this.#turns].find((turn) => turn.runId === runId);
  }

  async #onSnapshot(snapshot: WorkstreamSnapshot): Promise<void> {
    const { client, wsId, outgoing } = this.#deps;
    const isFirst = this.#snapshots === 0;
    this.#snapshots += 1;
    this.#place = { workdir: snapshot.workdir };
    this.#updates.reset();
    this.settings.open(snapshot, await readModels(client));
    const past = isFirst && this.#wantsReplay ? await replay(client, wsId, snapshot) : [];
    if (this.#isClosed) return; // a session that replaces it sends its own
    const missed = isFirst ? [] : MISSED;
    await outgoing.send([...past, ...missed, ...(snapshot.todo ? [toPlan(snapshot.todo)] : [])]);
    if (this.#isClosed) return;
    this.#opened.resolve();
    this.#asking.reset(snapshot.pendingApprovals);
    // The events that ended these runs may be among the lost ones.
    if (!isFirst) for (const turn of this.#turns) void this.#waitFor(turn, 0).catch((error) => this.#fail(error));
    if (!isFirst && !isBusy(snapshot.workstream.state)) this.#endAll({ status: 'ok' });
  }

  async #onEvent(event: StreamEvent): Promise<void> {
    if (event.type === 'user_turn') this.#onTurn(event);
    const settings = event.type === 'settings_changed' ? this.settings.read(event) : [];
    await this.#deps.outgoing.send([...this.#updates.read(event), ...settings]);
    if (this.#isClosed) return;
    if (event.type === 'approve_request') this.#asking.ask(event, this.#updates.titleOf(event.agent_id));
    if (event.type === 'approval_resolved') this.#asking.onDecision(event.approval_id);
    if (event.type === 'ws_state') this.#onState(event);
  }

  #onTurn({ run_id, steered_run_id }: StreamEventOf<'user_turn'>): void {
    if (!this.#running.has(run_id)) this.#running.set(run_id, Promise.withResolvers());
    // Another client let a message of this editor steer the run in progress.
    const turn = steered_run_id === undefined ? undefined : this.#turnOf(steered_run_id);
    if (turn) turn.runId = run_id;
  }

  #onState({ state, run }: StreamEventOf<'ws_state'>): void {
    if (run) {
      for (const turn of this.#turns) if (turn.runId === run.run_id) turn.ended.resolve(run);
      this.#running.get(run.run_id)?.resolve(run);
      this.#running.delete(run.run_id);
    }
    if (!isBusy(state)) this.#asking.withdrawAll();
  }

  #endAll(end: RunEnd): void {
    for (const { resolve } of this.#running.values()) resolve(end);
    this.#running.clear();
  }

  #fail(error: unknown): void {
    const { tell, onEnd } = this.#deps;
    const isGone = error instanceof RequestError;
    tell(`A session has ended: ${isGone || error instanceof Error ? error.message : String(error)}`);
    this.#opened.reject(error);
    for (const turn of this.#turns) turn.ended.reject(error);
    this.close();
    onEnd();
  }
}

const MISSED: SessionUpdate[] = [
  {
    sessionUpdate: 'agent_message_chunk',
    content: toBlock(
      '\n\n(Reconnected, but some events are missing. Load this conversation again to see all of it.)\n\n',
    ),
  },
];
