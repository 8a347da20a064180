import type { Approval } from '../../../protocol/methods/approval.ts';
import type { NoticeContent } from '../../../protocol/methods/channels/push.ts';
import type { Clock } from '../../clock.ts';
import { signedHeaders } from '../channels/webhook.ts';
import { ANYONE, mayPerceive, type Owned } from '../sharing/perception.ts';
import { GoneError, postNotice } from './post-notice.ts';
import type { NtfyTopic, PushServices, PushSettings } from './push-services.ts';
import { toNotice, type WaitingQuestion } from './question.ts';
import type { Target } from './target.ts';

interface ConfiguredDeps {
  services: Pick<PushServices, 'settings' | 'fetch'>;
  /** The address of the page. */
  url(): string;
  clock: Pick<Clock, 'now'>;
}

/**
 * The targets of config.json. They are the operator's: private conversations of users are nothing for them. Their settings
 * are read again for each message, because they may change meanwhile.
 */
export function configuredTargets(question: WaitingQuestion, deps: ConfiguredDeps): Target[] {
  if (!isForOperator(question.of)) return [];
  const { ntfy, webhooks } = deps.services.settings();
  return [
    ...[...ntfy.keys()].map((name) => ntfyTarget(name, deps)),
    ...[...webhooks.keys()].map((name) => webhookTarget(name, deps)),
  ];
}

const isForOperator = (of: Owned): boolean => of.ownerId === '' || mayPerceive(ANYONE, of);

/** A topic of ntfy (https://docs.ntfy.sh/publish). Its servers take a notification back from version 2.16 on. */
function ntfyTarget(name: string, { services, url: page }: ConfiguredDeps): Target {
  const topic = () => services.settings().ntfy.get(name);
  return {
    name: `ntfy ${name}`,
    isFor: async ({ of }) => isForOperator(of) && topic() !== undefined,
    async ask(question, signal) {
      const to = topic();
      if (to === undefined) return;
      const { title, body } = textOf(question, to.content);
      await postNotice(services.fetch, to.url, {
        method: 'POST',
        headers: {
          ...authorizationOf(to),
          'Content-Type': 'text/plain; charset=utf-8',
          'X-Title': title,
          'X-Sequence-ID': question.approval.approvalId,
          // An address of this machine leads nowhere on a phone.
          ...(page().startsWith('https://') && { 'X-Click': `${page()}/#inbox` }),
        },
        body,
        signal,
      });
    },
    async withdraw({ approval }, signal) {
      const to = topic();
      if (to === undefined) return;
      await postNotice(services.fetch, `${to.url.replace(/\/$/, '')}/${approval.approvalId}`, {
        method: 'DELETE',
        headers: authorizationOf(to),
        signal,
      }).catch((error: unknown) => {
        if (!(error instanceof GoneError)) throw error; // an older server
      });
    },
  };
}

const authorizationOf = ({ token }: NtfyTopic): Record<string, string> =>
  token === undefined ? {} : { Authorization: `Bearer ${token}` };

const NOTHING_SAID = { title: 'Headgate', body: 'Something waits for you' };

function textOf(question: WaitingQuestion, content: NoticeContent): { title: string; body: string } {
  if (content === 'none') return NOTHING_SAID;
  const { title, body = title } = toNotice(question, content);
  return { title, body };
}

type QuestionWebhook = PushSettings['webhooks'] extends ReadonlyMap<string, infer W> ? W : never;

/** A webhook, signed as messages are. */
function webhookTarget(name: string, { services, clock }: ConfiguredDeps): Target {
  const webhook = () => services.settings().webhooks.get(name);
  const post = (to: QuestionWebhook, type: string, { data, signal }: { data: Data; signal: AbortSignal }) => {
    const nowMs = clock.now();
    const body = JSON.stringify({ type, timestamp: new Date(nowMs).toISOString(), data });
    const signed = signedHeaders(`${type}:${data.approvalId}`, body, { destination: to, nowMs });
    const headers = { 'content-type': 'application/json', ...signed };
    return postNotice(services.fetch, to.url, { method: 'POST', headers, body, signal });
  };
  return {
    name: `webhook ${name}`,
    isFor: async ({ of }) => isForOperator(of) && webhook() !== undefined,
    async ask(question, signal) {
      const to = webhook();
      if (to) await post(to, 'question', { data: toData(question, to.content), signal });
    },
    async withdraw({ approval: { approvalId } }, signal) {
      const to = webhook();
      if (to) await post(to, 'question.ended', { data: { approvalId }, signal });
    },
  };
}

type Data = Record<string, unknown> & { approvalId: string };

function toData(question: WaitingQuestion, content: NoticeContent): Data {
  const { approvalId, wsId, kind, expiresAtMs }: Approval = question.approval;
  if (content === 'none') return { approvalId };
  const { title, body } = toNotice(question, content);
  return { approvalId, wsId, kind, expiresAt: new Date(expiresAtMs).toISOString(), title, ...(body && { body }) };
}
