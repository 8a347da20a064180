import { GatewayError } from '../../../protocol/errors.ts';
import type { Message } from '../../agent/message.ts';
import { type Models, ProviderError } from '../../agent/providers/model.ts';
import type { ModelWindows } from '../../agent/run/window/model-windows.ts';
import { planCompaction } from '../../agent/run/window/plan-cut.ts';
import { bytesOfPreamble } from '../../agent/run/window/token-count.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Messages } from '../history/messages.ts';
import { summarizerOf } from '../runs/summarizer.ts';
import type { Store } from '../store/store.ts';
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
  toolbox: Pick<Toolbox, 'definitions'>;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

/** Summarizes conversations between runs, when a person asks for it. */
export class Compactions {
  readonly #deps: CompactionsDeps;

  constructor(deps: CompactionsDeps) {
    this.#deps = deps;
  }

  /**
   * Begins to replace the older messages by a summary. Messages that arrive meanwhile wait. Events report the end. Throws
   * BUSY while a run is in progress.
   */
  start(workstream: Workstream, focus: string): void {
    if (workstream.busy) throw busy();
    const { log } = this.#deps;
    void workstream
      .whileIdle(() => this.#attempt(workstream, focus))
      .catch((err: unknown) => log.warn({ err, wsId: workstream.data.wsId }, 'a conversation was not summarized'));
  }

  async #attempt(workstream: Workstream, focus: string): Promise<void> {
    try {
      const isDone = await this.#compact(workstream, focus);
      if (!isDone) await this.#tell(workstream, { type: 'info', message: NOTHING });
    } catch (error) {
      if (!(error instanceof ProviderError) && !(error instanceof GatewayError)) throw error;
      await this.#tell(workstream, { type: 'error', message: `Command error: ${error.message}` });
    }
  }

  async #compact(workstream: Workstream, focus: string): Promise<boolean> {
    const { store, messages, models, windows, toolbox, stopping, clock } = this.#deps;
    const { data } = workstream;
    const model = await models.resolve(summarizerOf(data.modelAlias, models));
    const planned = await planCompaction(await messages.numbered(data), {
      model,
      window: windows.of(await models.resolve(data.modelAlias ?? undefined)),
      preambleBytes: bytesOfPreamble({ system: '', tools: toolbox.definitions() }),
      ...(focus !== '' && { focus }),
      signal: stopping,
    });
    if (!planned) return false;
    const loadContext = (of: WorkstreamData, pending: Cut): Promise<Message[]> => messages.context(of, pending);
    const cut = await prepareContextCut(data, planned.cut, { store, loadContext, nowMs: clock.now() });
    await store.commit({ statements: cut.statements, events: { wsId: data.wsId, events: planned.events } });
    cut.apply([]);
    workstream.forgetContext();
    return true;
  }

  async #tell({ data }: Workstream, event: { type: 'info' | 'error'; message: string }): Promise<void> {
    await this.#deps.store.commit({ events: { wsId: data.wsId, events: [event] } });
  }
}

const NOTHING = 'There is nothing to summarize: the conversation is short.';
