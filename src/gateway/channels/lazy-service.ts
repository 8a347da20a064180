import type { Clock } from '../../clock.ts';
import type { ChannelHook } from './channel-hook.ts';
import type { ChannelReport } from './channel-report.ts';
import type { ChatService } from './chats/chat-service.ts';

/** A chat service that is loaded. */
export interface LoadedService {
  report(): ChannelReport;
  backlog(): number;
  /** Asks the service for the account of a token; undefined: that of the settings. */
  check(token: string | undefined, signal: AbortSignal): Promise<{ account: string; bot: string }>;
  /** Drops the messages of a person that wait. */
  drop(senderId: string): Promise<void>;
  /** The settings may have changed. */
  look?(): void;
  hook?(): ChannelHook | undefined;
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface LazyServiceDeps {
  service: ChatService;
  isSetUp(): boolean;
  alertMs(): number | undefined;
  load(): Promise<LoadedService>;
  clock: Pick<Clock, 'now'>;
}

/** A chat service whose code is loaded when it is first needed: most daemons have none, and a start does not wait for it. */
export function createLazyService({ service, isSetUp, alertMs, load, clock }: LazyServiceDeps) {
  const sinceMs = clock.now();
  let loading: Promise<LoadedService> | undefined;
  let loaded: LoadedService | undefined;
  let changed = Promise.withResolvers<void>();
  const open = () => {
    loading ??= load().then(
      (one) => {
        loaded = one;
        return one;
      },
      (error: unknown) => {
        loading = undefined; // it is tried again
        throw error;
      },
    );
    return loading;
  };
  return {
    channel: service.channel,
    label: service.label,
    alertMs,
    report: (): ChannelReport => loaded?.report() ?? { state: isSetUp() ? 'connecting' : 'off', sinceMs },
    backlog: () => loaded?.backlog() ?? 0,
    check: async (token: string | undefined, signal: AbortSignal) => (await open()).check(token, signal),
    drop: async (senderId: string) => (await open()).drop(senderId),
    look(): void {
      changed.resolve();
      changed = Promise.withResolvers();
      loaded?.look?.();
    },
    /** Undefined while the service is not set up, or does not call. */
    hook: async () => (isSetUp() ? (await open()).hook?.() : undefined),
    async run(signal: AbortSignal): Promise<void> {
      signal.addEventListener('abort', () => changed.resolve(), { once: true });
      while (!signal.aborted && !isSetUp()) await changed.promise;
      if (!signal.aborted) await (await open()).run(signal);
    },
    close: async () => (await loading?.catch(() => undefined))?.close(),
  };
}
export type LazyService = ReturnType<typeof createLazyService>;
