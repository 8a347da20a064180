import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chat, Message, User } from '@grammyjs/types';
import { toIncoming } from './incoming.ts';

const BOT = { id: 42, username: 'headgate_bot' };
const ADA: User = { id: 7, is_bot: false, first_name: 'Ada', last_name: 'L' };
const BOB: User = { id: 8, is_bot: false, first_name: 'Bob' };
const DIRECT = { id: 7, type: 'private' as const, first_name: 'Ada' };
const FORUM = { id: -100, type: 'supergroup' as const, title: 'Team <b>', is_forum: true as const };

type NoChannel = Exclude<Chat, Chat.ChannelChat>;
/** The message of an update with these fields. */
const read = (fields: Partial<Message>, chat: NoChannel = DIRECT) =>
  toIncoming({ update_id: 1, message: { message_id: 5, date: 1, ...fields, from: fields.from ?? ADA, chat } }, BOT);

/** Its type asks for an `undefined` that JSON cannot have. */
const replied = (message: Message) => message as NonNullable<Message['reply_to_message']>;

const file = (more: object = {}) => ({ file_id: 'F', file_unique_id: 'U', file_size: 10, ...more });
const frame = { width: 1, height: 1 };

test('a text in a direct chat has its sender, its chat and its session', () => {
  assert.deepEqual(read({ text: '  hi @headgate_bot ' }), {
    ...{ chat: '7', chatId: '7', chatKind: 'dm', chatTitle: 'Ada L', sessionKey: 'telegram:dm:7' },
    ...{ senderId: '7', senderName: 'Ada L', messageId: '5', text: 'hi @headgate_bot', foreign: [], files: [] },
    ...{ unreadable: undefined, isForBot: true, command: undefined },
  });
});

test('in a topic, a message is for the bot if it mentions it, replies to it, or names it in a command', () => {
  const inTopic = { is_topic_message: true, message_thread_id: 3 };
  const toBot = { message_id: 2, date: 1, chat: FORUM, from: { ...BOB, id: 42, is_bot: true }, text: 'earlier' };
  const said = [
    read({ ...inTopic, text: 'hi' }, FORUM),
    read({ ...inTopic, text: '@Headgate_bot hi', entities: [{ type: 'mention', offset: 0, length: 13 }] }, FORUM),
    read({ ...inTopic, text: 'hi', reply_to_message: replied(toBot) }, FORUM),
    read({ ...inTopic, text: '/stop@headgate_bot', entities: [{ type: 'bot_command', offset: 0, length: 18 }] }, FORUM),
    read({ ...inTopic, text: '/stop@other_bot', entities: [{ type: 'bot_command', offset: 0, length: 15 }] }, FORUM),
  ];
  assert.deepEqual(
    said.map((message) => [message?.isForBot, message?.text, message?.command?.name]),
    [
      [false, 'hi', undefined],
      [true, 'hi', undefined],
      [true, 'hi', undefined],
      [true, '/stop@headgate_bot', 'stop'],
      [false, '/stop@other_bot', undefined],
    ],
  );
  assert.deepEqual(
    [said[0]?.chat, said[0]?.sessionKey, said[0]?.chatTitle],
    ['-100:3', 'telegram:group:-100:topic:3', 'Team b'],
  );
});

test('the name of the bot is taken off only where it is no part of a longer name', () => {
  const texts = ['@headgate_bot, hi', '@headgate_bot2 hi', '@headgate_bot_x hi', '@headgate_bot'];
  assert.deepEqual(
    texts.map((text) => read({ text })?.text),
    ['hi', '@headgate_bot2 hi', '@headgate_bot_x hi', ''],
  );
});

test('forwarded and quoted words are not those of the sender, nor is a forwarded command', () => {
  const origin = { type: 'hidden_user' as const, date: 1, sender_user_name: 'Eve\n"x"' };
  const command = [{ type: 'bot_command' as const, offset: 0, length: 4 }];
  const forwarded = read({ text: '/new', entities: command, forward_origin: origin });
  assert.deepEqual(
    [forwarded?.text, forwarded?.command, forwarded?.foreign],
    ['', undefined, [{ kind: 'forwarded', from: 'Eve x', text: '/new' }]],
  );
  const bobs = { message_id: 2, date: 1, chat: DIRECT, from: BOB, text: 'all of it' };
  const quote = { text: 'of it', position: 4 };
  assert.deepEqual(read({ text: 'why?', reply_to_message: replied(bobs), quote })?.foreign, [
    { kind: 'quoted', from: 'Bob', text: 'of it' },
  ]);
  const own = replied({ ...bobs, from: ADA });
  assert.deepEqual(read({ text: 'more', reply_to_message: own })?.foreign, []);
  assert.deepEqual(read({ photo: [{ ...file(), ...frame }], forward_origin: origin })?.foreign, [
    { kind: 'forwarded', from: 'Eve x', text: '(the attached file)' },
  ]);
});

test('every kind of content is a file, a recording or unreadable', () => {
  const large = { ...file({ file_id: 'L' }), width: 9, height: 9 };
  const read1 = (fields: Partial<Message>) => {
    const { files, unreadable } = read(fields) ?? {};
    return (
      files
        ?.map(({ id, kind, isOwnVoice, fileName }) => `${isOwnVoice ? 'own ' : ''}${kind} ${id} ${fileName}`)
        .join() || unreadable
    );
  };
  const sticker = { ...file(), ...frame, type: 'regular' as const, is_animated: false, is_video: false };
  assert.deepEqual(
    {
      photo: read1({ photo: [{ ...file(), ...frame }, large, { ...large, file_size: 2 ** 24, width: 99 }] }),
      document: read1({ document: file({ file_name: 'a.txt' }) }),
      voice: read1({ voice: { ...file(), duration: 1 } }),
      audio: read1({ audio: { ...file(), duration: 1 } }),
      videoNote: read1({ video_note: { ...file(), duration: 1, length: 1 } }),
      sticker: read1({ sticker: { ...sticker, emoji: '👍' } }),
      moving: read1({ sticker: { ...sticker, is_video: true } }),
      video: read1({ video: { ...file(), ...frame, duration: 1 } }),
      animation: read1({ animation: { ...file(), ...frame, duration: 1 }, document: file() }),
      location: read1({ location: { latitude: 1, longitude: 2 } }),
    },
    {
      photo: 'file L undefined',
      document: 'file F a.txt',
      voice: 'own speech F voice.oga',
      audio: 'speech F audio.mp3',
      videoNote: 'own speech F video-note.mp4',
      sticker: 'file F sticker 👍',
      moving: 'stickers that move',
      video: 'file F video.mp4',
      animation: 'file F animation.mp4',
      location: 'locations',
    },
  );
});

test('service messages and those of bots are no messages', () => {
  assert.equal(read({ new_chat_title: 'Other' }), undefined);
  assert.equal(read({ text: 'hi', from: { ...BOB, is_bot: true } }), undefined);
});
