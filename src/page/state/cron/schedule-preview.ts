import { type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { CronSchedule } from '../../../../protocol/cron.ts';
import type { Result } from '../../../../protocol/index.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';

export type Preview = Result<'cron.preview'>;

/** The preview of a schedule. The daemon parses it, so that the preview matches the later runs. */
export type Previewed =
  | { kind: 'nothing' }
  /** The previous preview stays visible meanwhile. */
  | { kind: 'reading'; before: Preview | undefined }
  | { kind: 'read'; preview: Preview }
  | { kind: 'problem'; message: string };

interface Port {
  client: Pick<GatewayClient, 'call'>;
  timeZone: string;
}

const SHOWN = 5;

/** Previews the schedule being typed. Only the last text is shown. */
export class SchedulePreview {
  readonly #port: Port;
  readonly #state = signal<Previewed>({ kind: 'nothing' });
  /** Number of the latest request; answers to earlier requests are ignored. */
  #asked = 0;

  constructor(port: Port) {
    this.#port = port;
  }

  get state(): ReadonlySignal<Previewed> {
    return this.#state;
  }

  async read(schedule: CronSchedule | string): Promise<Previewed> {
    const asked = ++this.#asked;
    const given = typeof schedule === 'string' ? schedule.trim() : schedule;
    if (given === '') return this.#set({ kind: 'nothing' });
    this.#set({ kind: 'reading', before: this.#shown() });
    const next = await this.#ask(given);
    return asked === this.#asked ? this.#set(next) : next;
  }

  async #ask(schedule: CronSchedule | string): Promise<Previewed> {
    const { client, timeZone } = this.#port;
    try {
      const preview = await client.call('cron.preview', { schedule, count: SHOWN, tz: timeZone });
      return { kind: 'read', preview };
    } catch (error) {
      const message = wordsOf(error);
      return { kind: 'problem', message: message.replace(/^schedule(: |\.)/, '') }; // shown at that field, so the name is not repeated
    }
  }

  #shown(): Preview | undefined {
    const state = this.#state.peek();
    if (state.kind === 'reading') return state.before;
    return state.kind === 'read' ? state.preview : undefined;
  }

  #set(next: Previewed): Previewed {
    this.#state.value = next;
    return next;
  }
}
