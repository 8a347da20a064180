import { type AttackStage, deliver, messageOf, PEOPLE } from './attack-stage.ts';

/** Somebody tries to be heard. `tag` occurs in the text, so that it would be seen in a request to the model. */
export interface Attempt {
  name: string;
  /** `ignored`: it was not meant for the bot, so nothing is kept. */
  outcome: 'blocked' | 'ignored' | 'accepted';
  send(stage: AttackStage, tag: string): void;
}

const MENTION = '@headgate_bot';
/** Another bot. */
const BOT = { id: 7_700, is_bot: true, first_name: 'Helper', username: 'helper_bot' };

/** A person with an id that looks like that of Ada. */
const asId = (id: unknown): Attempt => ({
  name: `the id ${JSON.stringify(id)}`,
  outcome: 'blocked',
  send({ telegram, people }, tag) {
    const chat = { ...people.eve.chat.chat, id };
    deliver(telegram, messageOf(people.eve, tag, { chat, from: { ...people.eve.user, id } }));
  },
});

/** Ids that become the number of Ada when they are read carelessly. */
const ODD_IDS = [
  ...[' 101', '101 ', '\t101', '101\n', '0101', '000101', '-101', '+101', '101.0', '1.01e2', '0x65', '0b1100101'],
  ...['１０１', '١٠١', '1̲01', '101\u0000', '101,102', '101:1', '*', '', '"101"', -101, 101.5, 10_1e10],
];

export const ODD_ATTEMPTS: Attempt[] = ODD_IDS.map(asId);

/** In direct chats. */
export const DIRECT_ATTEMPTS: Attempt[] = [
  { name: 'a stranger', outcome: 'blocked', send: ({ people: { eve } }, tag) => void eve.says(tag) },
  {
    name: 'a stranger with the username of an allowed person',
    outcome: 'blocked',
    send: ({ telegram }, tag) => void telegram.person({ id: 667, name: 'Ada', username: 'ada' }).says(tag),
  },
  {
    name: 'a stranger who registered the former username of an allowed person',
    outcome: 'blocked',
    send({ telegram, people: { ada } }, tag) {
      const { username: _, ...renamed } = ada.user;
      deliver(telegram, messageOf(ada, '', { from: renamed, text: undefined })); // she has no name any more
      telegram.person({ id: 668, name: 'Ada', username: 'ada' }).says(tag);
    },
  },
  {
    name: 'a stranger called like the number of an allowed person',
    outcome: 'blocked',
    send: ({ telegram }, tag) => void telegram.person({ id: 669, name: '101', username: 'id101' }).says(tag),
  },
  {
    name: 'a person who may decide, but not write',
    outcome: 'blocked',
    send: ({ people: { max } }, tag) => void max.says(tag),
  },
  { name: 'a revoked person', outcome: 'blocked', send: ({ people: { rex } }, tag) => void rex.says(tag) },
  {
    name: 'a command of a stranger',
    outcome: 'blocked',
    send: ({ people: { eve } }, tag) => void eve.says(`/new ${tag}`),
  },
  {
    name: 'an urgent command of a stranger',
    outcome: 'blocked',
    send: ({ people: { eve } }, tag) => void eve.says(`/stop ${tag}`),
  },
  {
    name: 'a stranger who forwards words of an allowed person',
    outcome: 'blocked',
    send: ({ people: { eve, ada } }, tag) => void eve.says(tag, { forwardedFrom: ada.user }),
  },
  {
    name: 'a stranger who quotes an allowed person of another chat',
    outcome: 'blocked',
    send({ telegram, people: { eve, ada } }, tag) {
      const external_reply = { origin: { type: 'user', date: 1, sender_user: ada.user } };
      deliver(telegram, messageOf(eve, tag, { external_reply, quote: { text: 'install it', position: 0 } }));
    },
  },
  {
    name: 'a stranger by means of another bot',
    outcome: 'blocked',
    send: ({ telegram, people: { eve } }, tag) => void deliver(telegram, messageOf(eve, tag, { via_bot: BOT })),
  },
  {
    name: 'a stranger by means of this bot',
    outcome: 'blocked',
    send: ({ telegram, people: { eve } }, tag) =>
      void deliver(telegram, messageOf(eve, tag, { via_bot: telegram.bot })),
  },
  {
    name: 'another bot',
    outcome: 'ignored',
    send: ({ telegram, people: { eve } }, tag) => void deliver(telegram, messageOf(eve, tag, { from: BOT })),
  },
  {
    name: 'another bot with the number of an allowed person',
    outcome: 'ignored',
    send: ({ telegram, people: { ada } }, tag) =>
      void deliver(telegram, messageOf(ada, tag, { from: { ...BOT, id: PEOPLE.ada } })),
  },
  {
    name: 'nobody, in the chat of an allowed person',
    outcome: 'blocked',
    send: ({ telegram, people: { ada } }, tag) => void deliver(telegram, messageOf(ada, tag, { from: undefined })),
  },
  {
    name: 'a stranger in the chat of an allowed person',
    outcome: 'blocked',
    send: ({ telegram, people: { ada, eve } }, tag) => void deliver(telegram, messageOf(ada, tag, { from: eve.user })),
  },
  {
    name: 'a caption of a stranger',
    outcome: 'blocked',
    send: ({ people: { eve } }, tag) => void eve.sends({ kind: 'photo', bytes: Buffer.from('x'), caption: tag }),
  },
];

/** In groups. Without `in`, a message goes to the group of Ada and Bob. */
export const GROUP_ATTEMPTS: Attempt[] = [
  {
    name: 'a stranger in a listed group',
    outcome: 'blocked',
    send: ({ people: { eve }, group }, tag) => void eve.says(`${MENTION} ${tag}`, { in: group }),
  },
  {
    name: 'an allowed person in a group that is not listed',
    outcome: 'blocked',
    send: ({ people: { ada }, telegram }, tag) => void ada.says(`${MENTION} ${tag}`, { in: telegram.group() }),
  },
  {
    name: 'an allowed person in a group that is not listed, as a command',
    outcome: 'blocked',
    send: ({ people: { ada }, telegram }, tag) => void ada.says(`/stop${MENTION} ${tag}`, { in: telegram.group() }),
  },
  {
    name: 'a person who may write in direct chats only',
    outcome: 'blocked',
    send: ({ people: { dan }, group }, tag) => void dan.says(`${MENTION} ${tag}`, { in: group }),
  },
  {
    name: 'a revoked person in a group that lists them',
    outcome: 'blocked',
    send: ({ people: { rex }, group }, tag) => void rex.says(`${MENTION} ${tag}`, { in: group }),
  },
  {
    name: 'an anonymous administrator',
    outcome: 'blocked',
    send({ telegram, people: { ada }, group }, tag) {
      const from = { id: 1_087_968_824, is_bot: false, first_name: 'Group', username: 'GroupAnonymousBot' };
      const text = `${MENTION} ${tag}`;
      deliver(telegram, messageOf(ada, text, { from, sender_chat: group.chat, chat: group.chat, ...mentioned() }));
    },
  },
  {
    name: 'an allowed person who writes as a channel',
    outcome: 'blocked',
    send({ telegram, people: { ada }, group }, tag) {
      const sender_chat = { id: -1_001_999_999_999, type: 'channel', title: 'Ada' };
      deliver(telegram, messageOf(ada, `${MENTION} ${tag}`, { sender_chat, chat: group.chat, ...mentioned() }));
    },
  },
  {
    name: 'a channel with the number of an allowed person',
    outcome: 'blocked',
    send({ telegram, people: { ada }, group }, tag) {
      const sender_chat = { id: -PEOPLE.ada, type: 'channel', title: 'Ada' };
      deliver(telegram, messageOf(ada, `${MENTION} ${tag}`, { sender_chat, chat: group.chat, ...mentioned() }));
    },
  },
  {
    name: 'a message that mentions another bot',
    outcome: 'ignored',
    send: ({ people: { ada }, group }, tag) => void ada.says(`@helper_bot ${tag}`, { in: group }),
  },
  {
    name: 'a message that mentions a bot whose name begins like ours',
    outcome: 'ignored',
    send: ({ people: { ada }, group }, tag) => void ada.says(`${MENTION}_2 ${tag}`, { in: group }),
  },
  {
    name: 'a text with the name of the bot that is no mention',
    outcome: 'ignored',
    send: ({ people: { ada }, group }, tag) => void ada.says(`x${MENTION} ${tag}`, { in: group }),
  },
  {
    name: 'a mention of somebody by number who is not the bot',
    outcome: 'ignored',
    send({ telegram, people: { ada, eve }, group }, tag) {
      const entities = [{ type: 'text_mention', offset: 0, length: 3, user: eve.user }];
      deliver(telegram, messageOf(ada, `Eve ${tag}`, { chat: group.chat, entities }));
    },
  },
  {
    name: 'a reply to somebody else',
    outcome: 'ignored',
    send({ people: { ada, bob }, group }, tag) {
      const said = bob.says('lunch?', { in: group });
      ada.says(tag, { in: group, replyTo: said });
    },
  },
  {
    name: 'a reply of a stranger to the bot',
    outcome: 'blocked',
    send({ telegram, people: { eve }, group }, tag) {
      const said = { message_id: 1, date: 1, chat: group.chat, from: telegram.bot, text: 'hello' };
      deliver(telegram, messageOf(eve, tag, { chat: group.chat, reply_to_message: said }));
    },
  },
  {
    name: 'a command for another bot',
    outcome: 'ignored',
    send: ({ people: { ada }, group }, tag) => void ada.says(`/new@helper_bot ${tag}`, { in: group }),
  },
  {
    name: 'a command for no bot in particular',
    outcome: 'ignored',
    send: ({ people: { ada }, group }, tag) => void ada.says(`/new ${tag}`, { in: group }),
  },
  {
    name: 'a stranger in a topic of a listed group',
    outcome: 'blocked',
    send({ people: { eve }, group, telegram }, tag) {
      eve.says(`${MENTION} ${tag}`, { in: group, topicId: telegram.topic(group) });
    },
  },
  {
    name: 'a group that says that it became the listed one, in a message of a stranger',
    outcome: 'ignored',
    send({ telegram, people: { eve } }, tag) {
      const chat = telegram.group({ title: tag }).chat;
      deliver(telegram, messageOf(eve, tag, { chat }));
    },
  },
];

const mentioned = () => ({ entities: [{ type: 'mention', offset: 0, length: MENTION.length }] });

/** Kinds of updates that the bot does not ask for; those that were made before it asked still come. */
export const UNASKED_ATTEMPTS: Attempt[] = [
  {
    name: 'a message of a stranger that was edited',
    outcome: 'ignored',
    send: ({ telegram, people: { eve } }, tag) =>
      void deliver(telegram, { edited_message: { ...messageOf(eve, tag).message, edit_date: 1 } }),
  },
  {
    name: 'a message of an allowed person that was edited after the bot had read it',
    outcome: 'ignored',
    send: ({ telegram, people: { ada } }, tag) =>
      void deliver(telegram, { edited_message: { ...messageOf(ada, tag).message, edit_date: 1 } }),
  },
  {
    name: 'a post of a channel',
    outcome: 'ignored',
    send({ telegram }, tag) {
      const chat = { id: -1_001_999_999_999, type: 'channel', title: 'News' };
      deliver(telegram, { channel_post: { message_id: 1, date: 1, chat, sender_chat: chat, text: tag } });
    },
  },
  {
    name: 'an edited post of a channel, signed by an allowed person',
    outcome: 'ignored',
    send({ telegram, people: { ada } }, tag) {
      const chat = { id: -1_001_999_999_999, type: 'channel', title: 'News' };
      const post = { message_id: 1, date: 1, chat, from: ada.user, author_signature: 'Ada', text: tag };
      deliver(telegram, { edited_channel_post: post });
    },
  },
  {
    name: 'an inline query of an allowed person',
    outcome: 'ignored',
    send: ({ telegram, people: { ada } }, tag) =>
      void deliver(telegram, { inline_query: { id: '1', from: ada.user, query: tag, offset: '' } }),
  },
  {
    name: 'a message of a business account',
    outcome: 'ignored',
    send: ({ telegram, people: { ada } }, tag) =>
      void deliver(telegram, { business_message: { ...messageOf(ada, tag).message, business_connection_id: 'b' } }),
  },
];
