import { type Signal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { CronSchedule } from '../../../../protocol/cron.ts';
import { toScheduleText } from './schedule-text.ts';

interface Port {
  client: Pick<GatewayClient, 'call'>;
  timeZone: string;
}

/**
 * Schedules in words, as the daemon describes them. Each is requested once, one after the other; until then its text is
 * shown.
 */
export class ScheduleWords {
  readonly #port: Port;
  readonly #known = new Map<string, Signal<string>>();
  #last: Promise<void> = Promise.resolve();

  constructor(port: Port) {
    this.#port = port;
  }

  of(schedule: CronSchedule): string {
    const { timeZone } = this.#port;
    if (schedule.kind === 'at') return `once, ${toScheduleText(schedule, timeZone)}`;
    const key = JSON.stringify(schedule);
    const known = this.#known.get(key);
    if (known) return known.value;
    const words = signal(toScheduleText(schedule, timeZone));
    this.#known.set(key, words);
    this.#last = this.#last.then(() => this.#ask(schedule, words));
    return words.value;
  }

  async #ask(schedule: CronSchedule, words: Signal<string>): Promise<void> {
    try {
      const { description } = await this.#port.client.call('cron.preview', { schedule, count: 1 });
      words.value = description;
    } catch {
      // its text stays
    }
  }
}
