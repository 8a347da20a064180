import type { Clock } from '../../../clock.ts';
import type { ChannelReport } from '../channel-report.ts';
import { missingSecrets, type WhatsAppSettings } from './whatsapp-settings.ts';

/** The state of the connection to WhatsApp, which calls the daemon; so a missing call is not noticed. */
export class NumberState {
  readonly #deps: { settings(): WhatsAppSettings | undefined; clock: Pick<Clock, 'now'> };
  #known: ChannelReport;
  /** Why the last request was refused, for this access token. */
  #refused: { why: string; accessToken: string } | undefined;

  constructor(deps: { settings(): WhatsAppSettings | undefined; clock: Pick<Clock, 'now'> }) {
    this.#deps = deps;
    this.#known = { state: 'off', sinceMs: deps.clock.now() };
  }

  get report(): ChannelReport {
    const { state, why } = this.#now();
    if (state !== this.#known.state) this.#known = { state, sinceMs: this.#deps.clock.now() };
    return why === undefined ? this.#known : { ...this.#known, why };
  }

  refused(why: string): void {
    this.#refused = { why, accessToken: this.#deps.settings()?.accessToken ?? '' };
  }

  accepted(): void {
    this.#refused = undefined;
  }

  #now(): Pick<ChannelReport, 'state' | 'why'> {
    const settings = this.#deps.settings();
    if (settings === undefined) return { state: 'off' };
    const missing = missingSecrets(settings);
    if (missing.length > 0)
      return { state: 'error', why: `The environment lacks the variable of ${missing.join(', ')}.` };
    const isRefused = this.#refused !== undefined && this.#refused.accessToken === settings.accessToken;
    return isRefused && this.#refused ? { state: 'error', why: this.#refused.why } : { state: 'listening' };
  }
}
