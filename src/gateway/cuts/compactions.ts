import { GatewayError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { readAttached } from '../../agent/attached-content.ts';
import type { Message } from '../../agent/message.ts';
import type { Prefix } from '../../agent/prefix/prefix.ts';
import { type ModelRequest, type Models, ProviderError, type Usage } from '../../agent/providers/model.ts';
import { statusOf } from '../../agent/run/generate.ts';
import type { Recorder } from '../../agent/run/recorder.ts';
import type { ModelWindow, ModelWindows } from '../../agent/run/window/model-windows.ts';
import { planCompaction } from '../../agent/run/window/plan-cut.ts';
import type { NumberedMessage } from '../../agent/run/window/run-window.ts';
import { reportSummary, type SummaryReport } from '../../agent/run/window/summary-report.ts';
import { bytesOfMessages, bytesOfPreamble } from '../../agent/run/window/token-count.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import { type Toolbox, toolboxFor } from '../../agent/tools/toolbox.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { Attachments } from '../attachments/attachments.ts';
import { tellPhase } from '../events/compaction-events.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Messages } from '../history/messages.ts';
import { readPrefix } from '../runs/prefix-rows.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { summarizerOf } from '../runs/summarizer.ts';
import type { Store } from '../store/store.ts';
import type { Budgets } from '../usage/budgets.ts';
import { openCallAccount } from '../usage/call-account.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { busy } from './busy.ts';
import { prepareContextCut } from './context-cut.ts';
import type { Cut } from './cut.ts';

interface CompactionsDeps {
  store: Store;
  messages: Pick<Messages, 'context' | 'numbered'>;
  models: Models;
  windows: ModelWindows;
  toolbox: Pick<Toolbox, 'definitions' | 'forCoordinators'>;
  attachments: Pick<Attachments, 'readForModel'>;
  budgets: Pick<Budgets, 'forRun'>;
  events: Pick<EventLog, 'transient'>;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

/** Without a version if nothing was sent since the last cut. */
type Preamble = Pick<Prefix, 'system' | 'tools'> & Partial<Pick<Prefix, 'version'>>;

interface Wish {
  /** What the summary should keep in particular; may be empty. */
  focus: string;
  /** Who asked for it. */
  principal: string;
  signal: AbortSignal;
}

/** Summarizes conversations between runs, when a person asks for it. */
export class Compactions {
  readonly #deps: CompactionsDeps;

  constructor(deps: CompactionsDeps) {
    this.#deps = deps;
  }

  /**
   * Begins to replace the older messages by a summary. Messages that arrive meanwhile wait, and a cancel stops it. Events
   * report the end. Throws BUSY while a run is in progress.
   */
  start(workstream: Workstream, wish: Omit<Wish, 'signal'>): void {
    if (workstream.busy) throw busy(workstream.heldBy);
    const { log } = this.#deps;
    void workstream
      .whileIdle('summary', (signal) => this.#attempt(workstream, { ...wish, signal }))
      .catch((err: unknown) => log.warn({ err, wsId: workstream.data.wsId }, 'a conversation was not summarized'));
  }

  async #attempt(workstream: Workstream, wish: Wish): Promise<void> {
    const report = reportSummary('manual', (phase) => tellPhase(this.#deps.events, workstream.data.wsId, phase));
    try {
      const isDone = await this.#compact(workstream, wish, report);
      if (!isDone) await this.#tell(workstream, { type: 'info', message: NOTHING });
    } catch (error) {
      report.failed(error);
      if (error instanceof StopReason && error.kind === 'cancel') {
        return this.#tell(workstream, { type: 'info', message: CANCELLED });
      }
      if (!(error instanceof ProviderError) && !(error instanceof GatewayError)) throw error;
      await this.#tell(workstream, { type: 'error', message: `Command error: ${error.message}` });
    }
  }

  async #compact(workstream: Workstream, { focus, principal, signal }: Wish, phases: SummaryReport): Promise<boolean> {
    const { store, messages, models, windows, clock, ids, log } = this.#deps;
    const { data } = workstream;
    const recorder = this.#recorderOf(workstream);
    const spender = { runId: ids.id('compact'), wsId: data.wsId, principal };
    const account = openCallAccount(spender, signal, this.#deps);
    const { waits } = workstream;
    const summarizer = await summarizerOf(data.modelAlias ?? undefined, account, {
      models,
      recorder,
      waits,
      clock,
      log,
    });
    const window = windows.of(await models.resolve(data.modelAlias ?? undefined));
    const stored = await messages.numbered(data);
    const preamble = await this.#preambleOf(data);
    const preambleBytes = bytesOfPreamble(preamble);
    const begun = async () => {
      await phases.begun();
      await this.#tell(workstream, { type: 'info', message: BEGUN });
    };
    const wish = { ...(focus !== '' && { focus }), report: { ...phases, begun }, signal };
    const space = { summarizer, window, preambleBytes };
    const sent = await this.#sentOf(data, preamble, stored);
    const planned = await planCompaction(stored, { ...space, ...wish, ...sent }).finally(account.close);
    if (!planned) return false;
    const loadContext = (of: WorkstreamData, pending: Cut): Promise<Message[]> => messages.context(of, pending);
    const nowMs = clock.now();
    const cut = await prepareContextCut(data, planned.cut, { store, loadContext, nowMs });
    const bytes = preambleBytes + bytesOfMessages(cut.context);
    const usage = { usage: estimateOf(bytes, window), contextWindow: window.size };
    const status: StreamEvent = { type: 'status', ...statusOf(usage.usage, window.size, data.effort()) };
    await store.commit({
      statements: [...cut.statements, setWorkstream(data.wsId, { usage_json: JSON.stringify(usage) })],
      events: { wsId: data.wsId, events: [...planned.events, status] },
    });
    cut.apply([]);
    data.usage = usage;
    workstream.context.forget();
    return true;
  }

  /** What stands before the messages. It is read from the store, because a workstream has it in memory only after a run. */
  async #preambleOf({ wsId, contextAfterSeq, kind }: WorkstreamData): Promise<Preamble> {
    const stored = await readPrefix(this.#deps.store, wsId);
    if (stored?.afterSeq === contextAfterSeq) return stored.prefix;
    return { system: '', tools: toolboxFor(kind, this.#deps.toolbox).definitions() };
  }

  /** The request of an answer, for a maker that summarizes what its model has read. */
  async #sentOf(
    data: WorkstreamData,
    { system, tools, version }: Preamble,
    stored: readonly NumberedMessage[],
  ): Promise<{ sent?: ModelRequest }> {
    if (version === undefined) return {};
    const messages = stored.map(({ message }) => message);
    const attachments = await readAttached(messages, (attachment) => this.#deps.attachments.readForModel(attachment));
    const effort = data.effort();
    return { sent: { system, messages, attachments, tools, effort, conversation: version, typedByPerson: false } };
  }

  /** Shows waits, and models that take over. */
  #recorderOf({ data: { wsId } }: Workstream): Recorder {
    const { store, log } = this.#deps;
    return {
      record: async ({ events = [] }) => void (await store.commit({ events: { wsId, events } })),
      emit: (event) => {
        store.commit({ events: { wsId, events: [event] } }).catch((err: unknown) => {
          log.warn({ err, wsId }, 'an event of a summary could not be stored');
        });
      },
    };
  }

  async #tell({ data }: Workstream, event: { type: 'info' | 'error'; message: string }): Promise<void> {
    await this.#deps.store.commit({ events: { wsId: data.wsId, events: [event] } });
  }
}

/** Until the next answer counts. */
const estimateOf = (bytes: number, { bytesPerToken }: ModelWindow): Usage => ({
  promptTokens: Math.ceil(bytes / bytesPerToken),
  completionTokens: 0,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
});

const BEGUN = 'Summarizing the conversation. New messages wait until the summary is done.';
const CANCELLED = 'The summary was cancelled. The conversation stays as it was.';
const NOTHING = 'There is nothing to summarize: the conversation is short.';
