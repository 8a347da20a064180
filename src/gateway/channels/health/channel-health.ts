import type { ChannelHealthRow } from '../../../../protocol/methods/channels/channel.ts';
import type { Notice } from '../../../../protocol/notice.ts';
import type { Log } from '../../../log.ts';
import type { ChannelFigures } from '../../metrics/channel-metrics.ts';
import type { Store } from '../../store/store.ts';
import { type ChannelTraffic, readTraffic } from './channel-traffic.ts';
import { type ChannelTrouble, findTrouble } from './channel-trouble.ts';
import type { WatchedChannel } from './watched-channel.ts';

interface ChannelHealthDeps {
  services: readonly WatchedChannel[];
  /** About jobs whose answers cannot be delivered. */
  jobNotices(): Notice[];
  store: Pick<Store, 'db'>;
  log: Log;
}

/** How chat services are doing. What is wrong with one is told once, and once more when it works again. */
export class ChannelHealth {
  readonly #deps: ChannelHealthDeps;
  readonly #told = new Map<string, ChannelTrouble>();
  readonly #traffic = new Map<string, ChannelTraffic>();
  #jobNotices: Notice[] = [];

  constructor(deps: ChannelHealthDeps) {
    this.#deps = deps;
  }

  /** Brings everything up to date. Never rejects: without the database, the figures stay as they were. */
  async look(): Promise<void> {
    const { services, jobNotices, store } = this.#deps;
    this.#jobNotices = jobNotices();
    for (const service of services) this.#judge(service);
    const reading = services.filter(isSetUp).map(async ({ channel }) => {
      this.#traffic.set(channel, await readTraffic(store, channel));
    });
    await Promise.allSettled(reading);
  }

  /** Those that are set up, as of the last look. */
  rows(): ChannelHealthRow[] {
    return this.#deps.services.filter(isSetUp).map(({ channel, report, backlog }) => {
      const { state, why, sinceMs, lastPollMs } = report();
      return {
        channel,
        state,
        ...(why !== undefined && { why }),
        sinceMs,
        ...(lastPollMs !== undefined && { lastPollAtMs: lastPollMs }),
        backlog: backlog(),
        ...(this.#traffic.get(channel) ?? { waiting: 0 }),
      };
    });
  }

  /** The same for metrics, as of now. */
  figures(): ChannelFigures[] {
    return this.#deps.services.filter(isSetUp).map(({ channel, report, backlog }) => {
      const { state, silentMs } = report();
      return { channel, isUp: !DOWN.includes(state), backlog: backlog(), silentMs };
    });
  }

  /** What people have to know, as of the last look. */
  notices(): Notice[] {
    return [...[...this.#told.values()].map(({ notice }) => notice), ...this.#jobNotices];
  }

  #judge(service: WatchedChannel): void {
    const { log } = this.#deps;
    const { channel, report } = service;
    const trouble = findTrouble(service);
    const before = this.#told.get(channel);
    if (trouble?.kind === before?.kind) return;
    // The next attempt may fail, too.
    if (trouble === undefined && report().state === 'connecting') return;
    if (trouble) {
      this.#told.set(channel, trouble);
      log.warn({ channel, notice: trouble.notice.text }, 'a chat service needs attention');
    } else {
      this.#told.delete(channel);
      log.info({ channel }, 'a chat service needs no attention any more');
    }
  }
}

const DOWN: readonly ChannelHealthRow['state'][] = ['off', 'connecting', 'conflict', 'error'];

const isSetUp = ({ report }: WatchedChannel): boolean => report().state !== 'off';
