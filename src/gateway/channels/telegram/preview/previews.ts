import type { StreamEvent } from '../../../../../protocol/stream-events.ts';
import type { Clock } from '../../../../clock.ts';
import type { Log } from '../../../../log.ts';
import type { EventLog } from '../../../events/event-log.ts';
import type { Store } from '../../../store/store.ts';
import type { RenderedChunk } from '../../ledger/chunk-rows.ts';
import { leavePreview } from '../../ledger/preview-rows.ts';
import type { Bot } from '../bots.ts';
import { render } from '../outbound/render.ts';
import type { PreviewGate } from './preview-gate.ts';
import { type Showing, showPreview } from './show-preview.ts';
import { StreamedText } from './streamed-text.ts';

export interface PreviewDeps {
  bot(): Bot | undefined;
  gate: PreviewGate;
  events: Pick<EventLog, 'onAppended'>;
  store: Pick<Store, 'db' | 'commit'>;
  clock: Clock;
  log: Log;
}

/** A run that works for a chat. */
export interface ChatWork {
  chat: string;
  run: { runId: string; wsId: string };
  /** Whether it is this run that the workstream executes now: others may wait, and answer elsewhere. */
  isCurrent(): boolean;
  ended: Promise<unknown>;
}

/** Between two requests for previews in a chat, and before the first: a short answer needs none. */
const EVERY_MS = 1_000;
/** A preview in progress when the daemon stops gets a moment, so that its id is known. */
const GRACE_MS = 3_000;

type Followed = Pick<ChatWork, 'isCurrent'> & { text: StreamedText };

/** Shows answers in progress as messages that grow. */
export class Previews {
  readonly #deps: PreviewDeps;
  readonly #followed = new Map<string, Set<Followed>>();
  /** When the next request may be sent, by the id of the chat without a topic, on the steady clock. */
  readonly #nextMs = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #unfollow: () => void;

  constructor(deps: PreviewDeps) {
    this.#deps = deps;
    this.#unfollow = deps.events.onAppended((wsId, entries) => {
      for (const { isCurrent, text } of this.#followed.get(wsId) ?? [])
        if (isCurrent()) for (const event of streamedIn(entries)) text.take(event);
    });
  }

  /** Shows the text of the run until it ends, if the settings want it. */
  during(work: ChatWork): void {
    if (!this.#isWanted(work.chat)) return;
    const over = new AbortController();
    void work.ended.finally(() => over.abort(new Error('the run ended')));
    const following = this.#follow(work, AbortSignal.any([this.#stopping.signal, over.signal])).catch((err: unknown) =>
      this.#deps.log.warn({ err, runId: work.run.runId }, 'an answer in progress is not shown any more'),
    );
    this.#underWay.add(following);
    void following.finally(() => this.#underWay.delete(following));
  }

  async close(): Promise<void> {
    this.#unfollow();
    this.#stopping.abort(new Error('the daemon stops'));
    const over = new AbortController();
    const late = this.#deps.clock.sleep(GRACE_MS, over.signal).catch(() => undefined); // all have ended
    await Promise.race([Promise.allSettled(this.#underWay), late]);
    over.abort();
  }

  /** Groups have many readers, whom a growing message distracts. */
  #isWanted(chat: string): boolean {
    const streaming = this.#deps.bot()?.settings.streaming;
    return streaming === 'all' || (streaming === 'direct' && !chat.startsWith('-'));
  }

  async #follow(work: ChatWork, signal: AbortSignal): Promise<void> {
    const { gate, store, clock } = this.#deps;
    const { runId, wsId } = work.run;
    const text = new StreamedText();
    using _ = this.#listen(wsId, { isCurrent: work.isCurrent, text });
    using turn = gate.open(runId);
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await store.commit({ statements: [leavePreview(runId, clock.now())] }); // an earlier process may have left it
    for (let shown = ''; !signal.aborted && !turn.isOver; ) {
      await Promise.race([text.grown, ended]);
      await this.#pause(work.chat, signal);
      const [part] = render(text.read());
      if (signal.aborted || part === undefined || part.formatted === shown) continue;
      const showing = await turn.show(() => this.#show(work, part));
      if (showing === undefined || showing === 'over') return;
      if (showing === 'shown') shown = part.formatted;
      else text.putBack();
    }
  }

  #listen(wsId: string, followed: Followed): Disposable {
    const all = this.#followed.get(wsId) ?? new Set();
    this.#followed.set(wsId, all.add(followed));
    return {
      [Symbol.dispose]: () => {
        all.delete(followed);
        if (all.size === 0) this.#followed.delete(wsId);
      },
    };
  }

  /** Waits for the next request that this chat may have. */
  async #pause(chat: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const place = placeOf(chat);
    for (let leftMs = EVERY_MS; leftMs > 0 && !signal.aborted; ) {
      await clock.sleep(leftMs, signal).catch(() => undefined); // it ended
      leftMs = (this.#nextMs.get(place) ?? 0) - clock.monotonic();
    }
    if (!signal.aborted) this.#nextMs.set(place, clock.monotonic() + EVERY_MS);
  }

  async #show(work: ChatWork, part: RenderedChunk): Promise<Showing> {
    const { bot: current, store, clock, log } = this.#deps;
    const bot = current();
    if (!bot) return 'over';
    const place = placeOf(work.chat);
    try {
      const showing = await showPreview(part, { chat: work.chat, runId: work.run.runId }, { bot, store, clock });
      if (typeof showing === 'object' && showing.waitMs > 0)
        this.#nextMs.set(place, clock.monotonic() + showing.waitMs);
      return showing;
    } catch (err) {
      log.warn({ err, runId: work.run.runId }, 'an answer in progress could not be shown');
      return 'over';
    }
  }
}

/** Telegram limits messages per chat; topics are no chats. */
const placeOf = (chat: string): string => chat.split(':')[0] ?? chat;

const STREAMED: ReadonlySet<string> = new Set(['content', 'thinking_start', 'stream_end']);

function* streamedIn(entries: readonly { json: string; type: string }[]): Generator<StreamEvent> {
  for (const { json, type } of entries) if (STREAMED.has(type)) yield JSON.parse(json);
}
