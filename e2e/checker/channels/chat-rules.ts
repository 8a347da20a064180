import { applyRules } from '../apply-rules.ts';
import type { Finding, Violation, WorkstreamOnDisk } from '../evidence.ts';
import { type ChatEvidence, kindOf, NO_ANSWER, partText, type Said, type Shown } from './chat-evidence.ts';
import { decidedByApprovers, decidedOnce, pressedOnce } from './decision-rules.ts';

type ChatRule = (evidence: ChatEvidence) => Iterable<Finding>;
type Chunk = ChatEvidence['chunks'][number];

/** Every rule about chats, by the sentence it checks. */
export const CHAT_RULES = {
  'a message of a person is stored once': storedOnce,
  'a message of a person is in its conversation once': heardOnce,
  'a message of a person starts one run': oneRun,
  'messages of a chat keep their order': keptOrder,
  'an answer is queued once': queuedOnce,
  'an answer has all its parts': wholeAnswers,
  'what counts as sent has an id and is there': sentIsThere,
  'nothing is there that was not recorded': thereIsSent,
  'nothing is there twice': thereOnce,
  'parts arrive in their order': partsInOrder,
  'what may not have arrived is listed with its reason': ambiguousListed,
  'the chat is told of what may not have arrived': ambiguousTold,
  'nothing waits at rest': nothingWaits,
  'one poll at a time': onePoll,
  'a question is decided once': decidedOnce,
  'only approvers decide': decidedByApprovers,
  'a press is handled once, and blocked unless an approver pressed': pressedOnce,
} as const satisfies Record<string, ChatRule>;

export type ChatRuleName = keyof typeof CHAT_RULES;

/** All violations of rules about chats. */
export const checkChats = (evidence: ChatEvidence): Violation[] => applyRules(CHAT_RULES, evidence);

function* storedOnce({ said, inbox, presses }: ChatEvidence): Generator<Finding> {
  for (const { updateId, chat, tag } of said) {
    const rows = inbox.filter((row) => row.update_id === updateId);
    const states = rows.map(({ state }) => state).join();
    if (states !== 'accepted') yield { what: `${tag} is stored as ${states || 'nothing'}`, where: chat };
    else if (rows[0]?.chat !== chat) yield { what: `${tag} is stored for ${rows[0]?.chat}`, where: chat };
  }
  const known = new Set([...said, ...presses].map(({ updateId }) => updateId));
  const extra = inbox.filter(({ update_id: id }) => !known.has(id));
  for (const { update_id: id, chat } of extra) yield { what: `the update ${id} was said by nobody`, where: chat };
}

/** The messages of people with a tag: in which workstreams, and how often. */
function heardIn({ disk }: ChatEvidence, tag: string) {
  const isIt = new RegExp(`\\b${tag}\\b`);
  return disk.workstreams.flatMap((workstream) =>
    workstream.messages
      .filter(({ message }) => message.role === 'user' && isIt.test(JSON.stringify(message)))
      .map(({ seq, runId }) => ({ workstream, seq, runId })),
  );
}

const workstreamOf = ({ chats, disk }: ChatEvidence, chat: string): WorkstreamOnDisk | undefined => {
  const wsId = chats.find((row) => row.chat === chat)?.ws_id;
  return disk.workstreams.find((workstream) => workstream.wsId === wsId);
};

function* heardOnce(evidence: ChatEvidence): Generator<Finding> {
  for (const { tag, chat } of evidence.said) {
    const heard = heardIn(evidence, tag);
    if (heard.length !== 1) yield { what: `${tag} is in the conversations ${heard.length} times`, where: chat };
    else if (heard[0]?.workstream !== workstreamOf(evidence, chat))
      yield { what: `${tag} is in the conversation of another chat`, where: chat };
  }
}

function* oneRun(evidence: ChatEvidence): Generator<Finding> {
  const runs = evidence.disk.workstreams.flatMap((workstream) => workstream.runs.map(({ run }) => run));
  const started = evidence.said.map((said) => ({ said, runId: runOf(evidence, said) }));
  for (const { said, runId } of started) {
    const { tag, chat: where } = said;
    const status = runs.find(({ run_id: id }) => id === runId)?.status ?? 'nothing';
    if (status !== 'ok' && !isGivenUp(answersTo(evidence, said)[0])) yield { what: `${tag} ended as ${status}`, where };
    const others = heardIn(evidence, tag).filter((heard) => heard.runId !== runId);
    if (others.length > 0) yield { what: `${tag} was read by another run, too`, where };
  }
  for (const [runId, all] of Map.groupBy(started, (one) => one.runId))
    if (all.length > 1) yield { what: `${all.length} messages have one run`, where: runId };
  const extra = runs.filter(
    ({ run_id: id, source }) => source === 'person' && !started.some(({ runId }) => runId === id),
  );
  for (const { run_id: id, ws_id: where } of extra) yield { what: `the run ${id} has no message`, where };
}

const runOf = ({ inbox }: ChatEvidence, { updateId }: Pick<Said, 'updateId'>): string =>
  inbox.find((row) => row.update_id === updateId)?.run_id ?? '';

function* keptOrder(evidence: ChatEvidence): Generator<Finding> {
  for (const [chat, all] of Map.groupBy(evidence.said, (said) => said.chat)) {
    const places = all.map(({ tag }) => heardIn(evidence, tag)[0]?.seq ?? 0);
    const wrong = places.findIndex((place, index) => index > 0 && place <= (places[index - 1] ?? 0));
    if (wrong > 0) yield { what: `${all[wrong]?.tag} was read before ${all[wrong - 1]?.tag}`, where: chat };
  }
}

type Outgoing = ChatEvidence['outbox'][number];

/** The answers to a message, or what was told instead. */
const answersTo = (evidence: ChatEvidence, { tag, updateId }: Said): Outgoing[] => {
  const id = `answer:${runOf(evidence, { updateId })}`;
  const isEnd = (one: Outgoing) => one.message_id === id && isGivenUp(one);
  return evidence.outbox.filter((one) => one.message.includes(partText(tag, 1)) || isEnd(one));
};

const isGivenUp = (one: Outgoing | undefined): boolean => one?.message.startsWith(NO_ANSWER) === true;

function* queuedOnce(evidence: ChatEvidence): Generator<Finding> {
  for (const said of evidence.said) {
    const answers = answersTo(evidence, said);
    if (answers.length !== 1) yield { what: `${said.tag} has ${answers.length} answers`, where: said.chat };
    else if (answers[0]?.destination !== said.chat)
      yield { what: `the answer to ${said.tag} goes to ${answers[0]?.destination}`, where: said.chat };
  }
}

const chunksOf = ({ chunks }: ChatEvidence, messageId: string | undefined): Chunk[] =>
  chunks.filter((chunk) => chunk.message_id === messageId);

function* wholeAnswers(evidence: ChatEvidence): Generator<Finding> {
  for (const said of evidence.said) {
    const [answer] = answersTo(evidence, said);
    const chunks = chunksOf(evidence, answer?.message_id);
    const extra = chunks.length - (isGivenUp(answer) ? 1 : said.parts); // a notice may come first
    if (extra !== 0 && extra !== 1) yield { what: `${said.tag} has ${chunks.length} parts`, where: said.chat };
    const failed = chunks.filter(({ state }) => state !== 'accepted' && state !== 'ambiguous');
    for (const { chunk, state } of failed) yield { what: `part ${chunk} of ${said.tag} is ${state}`, where: said.chat };
  }
}

const isThere = ({ shown }: ChatEvidence, { destination, provider_id: id }: Chunk): Shown | undefined =>
  shown.find((message) => message.chat === destination && message.messageId === id);

function* sentIsThere(evidence: ChatEvidence): Generator<Finding> {
  for (const chunk of evidence.chunks) {
    const { message_id: id, destination: where, state, provider_id: providerId } = chunk;
    const what = `part ${chunk.chunk} of ${id}`;
    if (state !== 'accepted' && providerId !== null) yield { what: `${what} is ${state} and has an id`, where };
    if (state === 'accepted' && !isThere(evidence, chunk))
      yield { what: `${what} (${providerId}) is not there`, where };
  }
  const ids = evidence.chunks.filter((chunk) => chunk.state === 'accepted' && !isDecision(chunk));
  const byId = Map.groupBy(ids, ({ destination, provider_id: id }) => `${destination} ${id}`);
  for (const [where, parts] of byId) if (parts.length > 1) yield { what: `${parts.length} parts have one id`, where };
}

/** It takes the place of its question. */
const isDecision = ({ message_id: id }: Chunk): boolean => id.startsWith('decided:');

/** The previews that a message of the bot may be. */
const previewsLike = ({ previews, outbox }: ChatEvidence, { chat, messageId, text }: Shown) =>
  previews.filter(({ message_id: id, destination, state, provider_id: providerId }) => {
    const answer = outbox.find((one) => one.message_id === id.replace('preview:', 'answer:'));
    const fits = destination === chat && answer?.message.includes(kindOf(text)) === true;
    return fits && (state === 'ambiguous' || providerId === messageId);
  });

/** The parts that a message of the bot may be, by their text. */
function partsLike(evidence: ChatEvidence, { chat, text }: Shown): Chunk[] {
  const kind = kindOf(text);
  return evidence.outbox
    .filter(({ destination }) => destination === chat)
    .flatMap(({ message, message_id: id }) => {
      const chunks = chunksOf(evidence, id);
      const parts = [...message.matchAll(/Answer to t\d+, part \d+\./g)].map(([words]) => words);
      const texts = parts.length > 0 ? parts : [kindOf(message)];
      const named = chunks.length > texts.length ? ['notice', ...texts] : texts;
      return chunks.filter((_, index) => named[index] === kind);
    });
}

function* thereIsSent(evidence: ChatEvidence): Generator<Finding> {
  for (const message of evidence.shown) {
    const parts = partsLike(evidence, message);
    // What is sent again has the id of its last copy.
    const isRecorded = parts.some(
      ({ state, provider_id: id }) =>
        state === 'ambiguous' || (state === 'accepted' && (id === message.messageId || evidence.policy === 'retry')),
    );
    if (!isRecorded && previewsLike(evidence, message).length === 0)
      yield { what: `nobody recorded ${JSON.stringify(message.text.slice(0, 60))}`, where: message.chat };
  }
}

/** With the policy `retry`, parts may arrive twice. */
function* thereOnce(evidence: ChatEvidence): Generator<Finding> {
  const { shown, chunks, outbox, policy } = evidence;
  const answers = shown.filter(({ text }) => kindOf(text) !== 'notice' && kindOf(text) !== 'no answer');
  for (const [where, copies] of Map.groupBy(answers, ({ chat, text }) => `${chat}: ${kindOf(text)}`)) {
    const [first] = copies;
    if (policy === 'retry' || first === undefined) continue;
    const isQuestion = kindOf(first.text).startsWith('question');
    const asked = outbox.filter((one) => one.destination === first.chat && kindOf(one.message) === kindOf(first.text));
    // A tool that the daemon interrupted is asked about again.
    const most = isQuestion ? asked.length : 1 + leftPreviews(evidence, first);
    if (copies.length > most) yield { what: `it arrived ${copies.length} times`, where };
  }
  for (const [chat, notices] of Map.groupBy(shown, (message) => message.chat)) {
    const told = notices.filter(({ text }) => kindOf(text) === 'notice').length;
    const lost = chunks.filter(({ destination, state }) => destination === chat && state === 'ambiguous').length;
    if (told > lost) yield { what: `${told} notices of ${lost} lost parts`, where: chat };
  }
}

/** How many previews of the answer may be there beside it. */
const leftPreviews = (evidence: ChatEvidence, shown: Shown): number =>
  previewsLike(evidence, shown).filter(({ state }) => state === 'ambiguous').length;

function* partsInOrder(evidence: ChatEvidence): Generator<Finding> {
  for (const [chat, parts] of Map.groupBy(evidence.chunks, ({ destination }) => destination)) {
    const places = parts
      .filter((chunk) => chunk.state === 'accepted' && !isDecision(chunk))
      .map((chunk) => evidence.shown.findIndex((message) => message === isThere(evidence, chunk)));
    const wrong = places.findIndex((place, index) => index > 0 && place <= (places[index - 1] ?? -1));
    if (wrong > 0) yield { what: `part ${wrong} of those that were sent came before the one before it`, where: chat };
  }
}

const lostParts = ({ chunks }: ChatEvidence): Chunk[] => chunks.filter(({ state }) => state === 'ambiguous');

function* ambiguousListed(evidence: ChatEvidence): Generator<Finding> {
  if (evidence.policy === 'retry')
    for (const { message_id: id, destination: where } of lostParts(evidence))
      yield { what: `a part of ${id} was not sent again`, where };
  for (const { message_id: id, chunk, destination: where } of lostParts(evidence)) {
    const row = evidence.listed.find(({ messageId, part }) => messageId === id && part === chunk);
    if (row?.state !== 'ambiguous' || !row.reason)
      yield { what: `part ${chunk} of ${id} is listed as ${row?.state}, because ${row?.reason}`, where };
  }
}

/** By the first notice after it that arrived or may have arrived; otherwise the chat is still to be told. */
function* ambiguousTold(evidence: ChatEvidence): Generator<Finding> {
  for (const lost of lostParts(evidence)) {
    const { destination: where, message_id: id } = lost;
    const later = evidence.chunks.slice(evidence.chunks.indexOf(lost) + 1);
    const isTold = later.some((chunk) => {
      const message = chunk.destination === where ? isThere(evidence, chunk) : undefined;
      return message !== undefined && kindOf(message.text) === 'notice';
    });
    const isOwed = evidence.chats.find(({ chat }) => chat === where)?.owes_notice === 1;
    if (!isTold && !isOwed) yield { what: `nobody was told of part ${lost.chunk} of ${id}`, where };
  }
}

function* nothingWaits({ inbox, outbox, chunks, previews, disk }: ChatEvidence): Generator<Finding> {
  for (const { update_id: id, chat, state } of inbox)
    if (state === 'waiting') yield { what: `the update ${id} waits`, where: chat };
  for (const { message_id: id, destination, status } of outbox)
    if (status === 'pending') yield { what: `${id} waits`, where: destination };
  const open = disk.workstreams.flatMap(({ approvals }) => approvals).filter(({ status }) => status === 'pending');
  for (const { approval_id: id, ws_id: where } of open) yield { what: `${id} is not decided`, where };
  for (const { message_id: id, destination, state } of [...chunks, ...previews])
    if (state === 'unsent' || state === 'sending') yield { what: `a part of ${id} is ${state}`, where: destination };
}

function* onePoll({ mostPolls }: ChatEvidence): Generator<Finding> {
  if (mostPolls !== 1) yield { what: `${mostPolls} requests for updates at once`, where: 'getUpdates' };
}
