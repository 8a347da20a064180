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

/** The targets of config.json. They are the operator's: private conversations of users are nothing for them. */
export function configuredTargets(question: WaitingQuestion, deps: ConfiguredDeps): Target[] {
  if (!isForOperator(question.of)) return [];
  const { ntfy, webhooks } = deps.services.settings();
  return [
    ...[...ntfy].map(([name, topic]) => ntfyTarget(name, topic, deps)),
    ...[...webhooks].map(([name, webhook]) => webhookTarget(name, webhook, deps)),
  ];
}

const isForOperator = (of: Owned): boolean => of.ownerId === '' || mayPerceive(ANYONE, of);

/** A topic of ntfy (https://docs.ntfy.sh/publish). Its servers take a notification back from version 2.16 on. */
function ntfyTarget(name: string, { url, token, content }: NtfyTopic, { services, url: page }: ConfiguredDeps): Target {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return {
    name: `ntfy ${name}`,
    ask: ({ approval, ...question }, signal) => {
      const { title, body } = textOf({ approval, ...question }, content);
      return postNotice(services.fetch, url, {
        method: 'POST',
        headers: {
          ...headers,
          'Content-Type': 'text/plain; charset=utf-8',
          'X-Title': title,
          'X-Sequence-ID': approval.approvalId,
          // An address of this machine leads nowhere on a phone.
          ...(page().startsWith('https://') && { 'X-Click': `${page()}/#inbox` }),
        },
        body,
        signal,
      });
    },
    withdraw: ({ approval }, signal) =>
      postNotice(services.fetch, `${url.replace(/\/$/, '')}/${approval.approvalId}`, {
        method: 'DELETE',
        headers,
        signal,
      }).catch((error: unknown) => {
        if (!(error instanceof GoneError)) throw error; // an older server
      }),
  };
}

const NOTHING_SAID = { title: 'Headgate', body: 'Something waits for you' };

function textOf(question: WaitingQuestion, content: NoticeContent): { title: string; body: string } {
  if (content === 'none') return NOTHING_SAID;
  const { title, body = title } = toNotice(question, content);
  return { title, body };
}

type QuestionWebhook = PushSettings['webhooks'] extends ReadonlyMap<string, infer W> ? W : never;

/** A webhook, signed as messages are. */
function webhookTarget(name: string, webhook: QuestionWebhook, { services, clock }: ConfiguredDeps): Target {
  const post = (type: string, data: { approvalId: string }, signal: AbortSignal) => {
    const nowMs = clock.now();
    const body = JSON.stringify({ type, timestamp: new Date(nowMs).toISOString(), data });
    const signed = signedHeaders(`${type}:${data.approvalId}`, body, { destination: webhook, nowMs });
    const headers = { 'content-type': 'application/json', ...signed };
    return postNotice(services.fetch, webhook.url, { method: 'POST', headers, body, signal });
  };
  return {
    name: `webhook ${name}`,
    ask: (question, signal) => post('question', toData(question, webhook.content), signal),
    withdraw: ({ approval: { approvalId } }, signal) => post('question.ended', { approvalId }, signal),
  };
}

function toData(question: WaitingQuestion, content: NoticeContent) {
  const { approvalId, wsId, kind, expiresAtMs }: Approval = question.approval;
  if (content === 'none') return { approvalId };
  const { title, body } = toNotice(question, content);
  return { approvalId, wsId, kind, expiresAt: new Date(expiresAtMs).toISOString(), title, ...(body && { body }) };
}
