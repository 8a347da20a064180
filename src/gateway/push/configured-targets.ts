import type { NoticeContent } from '../../../protocol/methods/channels/push.ts';
import type { Clock } from '../../clock.ts';
import { signedHeaders } from '../channels/webhook.ts';
import type { Matter } from './matter.ts';
import { GoneError, postNotice } from './post-notice.ts';
import type { NtfyTopic, PushServices, PushSettings } from './push-services.ts';
import type { Target } from './target.ts';

interface ConfiguredDeps {
  services: Pick<PushServices, 'settings' | 'fetch'>;
  /** The address of the page. */
  url(): string;
  clock: Pick<Clock, 'now'>;
}

/**
 * The targets of config.json. They are the operator's: what is private to users is nothing for them. Their settings
 * are read again for each message, because they may change meanwhile.
 */
export async function configuredTargets(matter: Matter, deps: ConfiguredDeps): Promise<Target[]> {
  if (!(await matter.isForOperator())) return [];
  const { ntfy, webhooks } = deps.services.settings();
  return [
    ...[...ntfy.keys()].map((name) => ntfyTarget(name, deps)),
    ...[...webhooks.keys()].map((name) => webhookTarget(name, deps)),
  ];
}

/** A topic of ntfy (https://docs.ntfy.sh/publish). Its servers take a notification back from version 2.16 on. */
function ntfyTarget(name: string, { services, url: page }: ConfiguredDeps): Target {
  const topic = () => services.settings().ntfy.get(name);
  return {
    name: `ntfy ${name}`,
    isFor: async (matter) => topic() !== undefined && (await matter.isForOperator()),
    async ask(matter, signal) {
      const to = topic();
      if (to === undefined) return;
      const { title, body } = textOf(matter, to.content);
      await postNotice(services.fetch, to.url, {
        method: 'POST',
        headers: {
          ...authorizationOf(to),
          'Content-Type': 'text/plain; charset=utf-8',
          'X-Title': title,
          'X-Sequence-ID': matter.id,
          // An address of this machine leads nowhere on a phone.
          ...(page().startsWith('https://') && { 'X-Click': `${page()}/#inbox` }),
        },
        body,
        signal,
      });
    },
    async withdraw({ id }, signal) {
      const to = topic();
      if (to === undefined) return;
      await postNotice(services.fetch, addressOf(to.url, id), {
        method: 'DELETE',
        headers: authorizationOf(to),
        signal,
      }).catch((error: unknown) => {
        if (!(error instanceof GoneError)) throw error; // an older server
      });
    },
  };
}

/** Of a notification. The address of a topic may have parameters, such as `?auth=`. */
function addressOf(topic: string, id: string): string {
  const url = new URL(topic);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${id}`;
  return url.href;
}

const authorizationOf = ({ token }: NtfyTopic): Record<string, string> =>
  token === undefined ? {} : { Authorization: `Bearer ${token}` };

const NOTHING_SAID = { title: 'Headgate', body: 'Something waits for you' };

function textOf(matter: Matter, content: NoticeContent): { title: string; body: string } {
  if (content === 'none') return NOTHING_SAID;
  const { title, body = title } = matter.notice(content);
  return { title, body };
}

type QuestionWebhook = PushSettings['webhooks'] extends ReadonlyMap<string, infer W> ? W : never;

/** A webhook, signed as messages are. */
function webhookTarget(name: string, { services, clock }: ConfiguredDeps): Target {
  const webhook = () => services.settings().webhooks.get(name);
  const post = (to: QuestionWebhook, { id, type, data, signal }: Message) => {
    const nowMs = clock.now();
    const body = JSON.stringify({ type, timestamp: new Date(nowMs).toISOString(), data });
    const signed = signedHeaders(`${type}:${id}`, body, { destination: to, nowMs });
    const headers = { 'content-type': 'application/json', ...signed };
    return postNotice(services.fetch, to.url, { method: 'POST', headers, body, signal });
  };
  return {
    name: `webhook ${name}`,
    isFor: async (matter) => webhook() !== undefined && (await matter.isForOperator()),
    async ask(matter, signal) {
      const to = webhook();
      const { id, named } = matter;
      if (to) await post(to, { id, type: named.type, data: toData(matter, to.content), signal });
    },
    async withdraw({ id, named }, signal) {
      const to = webhook();
      if (to) await post(to, { id, type: `${named.type}.ended`, data: named.id, signal });
    },
  };
}

interface Message {
  id: string;
  type: string;
  data: Readonly<Record<string, unknown>>;
  signal: AbortSignal;
}

function toData({ named, expiresAtMs, notice }: Matter, content: NoticeContent): Message['data'] {
  if (content === 'none') return named.id;
  const { title, body } = notice(content);
  const expiry = expiresAtMs !== undefined && { expiresAt: new Date(expiresAtMs).toISOString() };
  return { ...named.id, ...named.about, ...expiry, title, ...(body && { body }) };
}
