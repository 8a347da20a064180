import { hash } from 'node:crypto';
import webPush from 'web-push';
import type { Clock } from '../../clock.ts';
import { openPushKeys, type PushKeys } from '../../home/push-keys.ts';
import type { Log } from '../../log.ts';
import type { Holders, Standing } from '../auth/logins/standing.ts';
import { DeliveryError } from '../channels/channel.ts';
import type { PushSubscriptionTable } from '../store/schema/channels/push-schema.ts';
import type { Store } from '../store/store.ts';
import type { Matter } from './matter.ts';
import { GoneError, postNotice, toDeliveryError } from './post-notice.ts';
import type { PushServices } from './push-services.ts';
import { deleteSubscription, noteSent, readSubscription, readSubscriptions } from './subscription-rows.ts';
import type { Target } from './target.ts';

/** Push servers keep nothing for longer. */
const MOST_TTL_SECS = 28 * 86_400;
const LEAST_TTL_SECS = 60;

export interface BrowserDeps {
  store: Pick<Store, 'db' | 'commit'>;
  services: PushServices;
  holders: Pick<Holders, 'standing'>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'info'>;
}

/** The message of a matter, as the service worker of the page reads it (src/page/worker/). */
export interface PushMessage {
  /** Of the matter: it replaces an earlier notification about it. Absent: a test. */
  id?: string;
  /** The conversation. */
  ws?: string;
  /** The entry of the inbox that it leads to; absent: the one of the id. */
  at?: string;
  title?: string;
  body?: string;
  /** The notification may have buttons that decide. */
  act?: true;
  /** It does not wait any more. */
  gone?: true;
}

/** Notifications of browsers, encrypted so that push servers cannot read them (RFC 8291), and signed (RFC 8292). */
export class Browsers {
  readonly #deps: BrowserDeps;
  #keys: Promise<PushKeys> | undefined;

  constructor(deps: BrowserDeps) {
    this.#deps = deps;
  }

  keys(): Promise<PushKeys> {
    this.#keys ??= openPushKeys(this.#deps.services.home, webPush.generateVAPIDKeys).catch((error: unknown) => {
      this.#keys = undefined; // once the file is mended, it works without a restart
      throw error;
    });
    return this.#keys;
  }

  /** The browsers of those who may decide about it. */
  async targetsOf(matter: Matter): Promise<Target[]> {
    const targets: Target[] = [];
    for (const [row, standing] of await this.standing())
      if (await matter.isFor(standing)) targets.push(this.#toTarget(row));
    return targets;
  }

  /** Those whose credentials stand; the others are removed. */
  async standing(principalId?: string): Promise<(readonly [PushSubscriptionTable, Standing])[]> {
    const { store, holders } = this.#deps;
    const all = (await readSubscriptions(store, principalId)).map((row) => [row, holders.standing(row)] as const);
    const gone = all.flatMap(([row, standing]) => (standing ? [] : [deleteSubscription(row.subscription_id)]));
    if (gone.length > 0) await store.commit({ statements: gone });
    return all.flatMap(([row, standing]) => (standing ? [[row, standing] as const] : []));
  }

  /** Throws DeliveryError. A server that does not know the browser any more removes it. */
  async send(
    row: PushSubscriptionTable,
    message: PushMessage,
    { signal, ttlSecs = LEAST_TTL_SECS }: { signal: AbortSignal; ttlSecs?: number },
  ): Promise<void> {
    const { store, services, clock, log } = this.#deps;
    const keys = await this.keys();
    try {
      const { headers, body } = toRequest(row, message, { ...keys, subject: services.settings().contact, ttlSecs });
      await postNotice(services.publicFetch, row.endpoint, {
        method: 'POST',
        headers: toHeaders(headers),
        body: body === null ? null : Uint8Array.from(body),
        signal,
      });
    } catch (error) {
      const { subscription_id: id } = row;
      const isGone = error instanceof GoneError;
      if (isGone) log.info({ subscriptionId: id, to: hostOf(row) }, 'a browser gets no notifications any more');
      await store.commit({
        statements: [isGone ? deleteSubscription(id) : noteSent(id, { problem: toDeliveryError(error).message })],
      });
      throw error;
    }
    await store.commit({ statements: [noteSent(row.subscription_id, { last_sent_ms: clock.now() })] });
  }

  /** Everything else about the browser is read again for each message: it may be removed, or want less, meanwhile. */
  #toTarget({ subscription_id: id, ...found }: PushSubscriptionTable): Target {
    const { clock } = this.#deps;
    return {
      name: `${id} at ${hostOf(found)}`,
      isFor: async (matter) => {
        const [, standing] = (await this.#now(id)) ?? [];
        return standing !== undefined && (await matter.isFor(standing));
      },
      ask: async (matter, signal) => {
        const [row, standing] = (await this.#now(id)) ?? [];
        if (row === undefined || standing === undefined) return;
        const { expiresAtMs = Number.POSITIVE_INFINITY } = matter;
        await this.send(row, toMessage(matter, row, standing), { signal, ttlSecs: ttlOf(expiresAtMs - clock.now()) });
      },
      withdraw: async (matter, signal) => {
        const [row] = (await this.#now(id)) ?? [];
        // Without a content, a message cannot say what it takes back.
        if (row !== undefined && row.content !== 'none')
          await this.send(row, { id: matter.id, gone: true }, { signal });
      },
    };
  }

  /** Undefined when it was removed, or its credential has ended. */
  async #now(id: string): Promise<readonly [PushSubscriptionTable, Standing] | undefined> {
    const row = await readSubscription(this.#deps.store, id);
    const standing = row && this.#deps.holders.standing(row);
    return row && standing && [row, standing];
  }
}

/** An expired login gets no texts: it may be somebody else who looks at the screen. */
function toMessage(matter: Matter, row: PushSubscriptionTable, standing: Standing): PushMessage {
  const { id, wsId: ws, entry: at } = matter;
  const content = row.content === 'full' && standing.isLoggedIn ? 'full' : 'title';
  const { title, body, isWhole } = matter.notice(content);
  const place = { id, ws, ...(at !== undefined && { at }) };
  return { ...place, title, ...(body !== undefined && { body }), ...(isWhole && standing.isFresh && { act: true }) };
}

function toRequest(
  { content, endpoint, p256dh, auth }: PushSubscriptionTable,
  message: PushMessage,
  { publicKey, privateKey, subject, ttlSecs }: PushKeys & { subject: string; ttlSecs: number },
) {
  const to = { endpoint, keys: { p256dh, auth } };
  const options: webPush.RequestOptions = {
    vapidDetails: { subject, publicKey, privateKey },
    TTL: ttlSecs,
    urgency: 'high',
    // What the server still holds for the browser is replaced.
    ...(message.id !== undefined && { topic: hash('sha256', message.id, 'base64url').slice(0, 32) }),
  };
  try {
    return content === 'none'
      ? webPush.generateRequestDetails(to, null, options)
      : webPush.generateRequestDetails(to, JSON.stringify(message), options);
  } catch (cause) {
    throw new DeliveryError('nothing can be encrypted for this browser', { retryable: false, cause });
  }
}

const ttlOf = (leftMs: number): number => Math.min(MOST_TTL_SECS, Math.max(LEAST_TTL_SECS, Math.floor(leftMs / 1_000)));

/** The length is for the one who sends it to say. */
const toHeaders = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name === 'Content-Length' ? [] : [[name, String(value)]])),
  );

export const hostOf = ({ endpoint }: Pick<PushSubscriptionTable, 'endpoint'>): string => new URL(endpoint).host;
