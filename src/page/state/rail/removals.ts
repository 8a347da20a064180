import { type ReadonlySignal, signal } from '@preact/signals';
import type { Timers } from '../../../../protocol/client/timers.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { type Tab, tabName } from '../tab.ts';
import type { Workstreams } from '../workstreams.ts';

interface Port {
  client: Pick<GatewayClient, 'call'>;
  workstreams: Pick<Workstreams, 'hide' | 'refresh'>;
  timers: Pick<Timers, 'after'>;
}

/** What the list says about the last removal. */
export interface Removal {
  name: string;
  /** Why it could not be deleted; undefined while it can be undone. */
  problem?: string | undefined;
}

/** How long a removal can be undone. */
const UNDO_MS = 8_000;

/** Deletes conversations a little later, so that a person can think again. A page that is closed before deletes nothing. */
export class Removals {
  readonly #port: Port;
  readonly #last = signal<Removal | undefined>(undefined);
  #waiting: { wsId: string; name: string; cancel(): void } | undefined;

  constructor(port: Port) {
    this.#port = port;
  }

  get last(): ReadonlySignal<Removal | undefined> {
    return this.#last;
  }

  /** An earlier one can no longer be undone. */
  remove(tab: Tab): void {
    this.#finish();
    const { wsId } = tab;
    const name = tabName(tab);
    this.#port.workstreams.hide(wsId, true);
    this.#last.value = { name };
    this.#waiting = { wsId, name, cancel: this.#port.timers.after(UNDO_MS, () => this.#finish()) };
  }

  undo(): void {
    const waiting = this.#waiting;
    this.dismiss();
    if (!waiting) return;
    waiting.cancel();
    this.#waiting = undefined;
    this.#port.workstreams.hide(waiting.wsId, false);
  }

  dismiss(): void {
    this.#last.value = undefined;
  }

  #finish(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    waiting.cancel();
    this.#waiting = undefined;
    this.dismiss();
    void this.#delete(waiting);
  }

  async #delete({ wsId, name }: { wsId: string; name: string }): Promise<void> {
    const { client, workstreams } = this.#port;
    try {
      await client.call('sessions.delete', { key: wsId, deleteTranscript: true });
    } catch (error) {
      this.#last.value = { name, problem: wordsOf(error) };
    }
    await workstreams.refresh().catch(() => undefined); // a lost connection: the next one reads the list
    workstreams.hide(wsId, false); // gone, or still there
  }
}
