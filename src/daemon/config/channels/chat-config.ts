import { z } from 'zod';
import { AMBIGUOUS_POLICIES, type ChatSettings, DM_POLICIES } from '../../../gateway/channels/chats/chat-settings.ts';

/** The id of a person, or of a group: names can change hands, so they are refused. */
const idOf = (pattern: RegExp, what: string) =>
  z
    .union([z.int(), z.string()])
    .transform(String)
    .refine((id) => pattern.test(id), `must be ${what}`);

const PersonId = idOf(/^[1-9]\d{0,19}$/, 'the number of a person, such as 123456789; usernames can change hands');
export const AllowedId = idOf(/^(?:\*|[1-9]\d{0,19})$/, 'the number of a person, or "*" for everybody');

/** The settings that every chat service has. */
export const CHAT_FIELDS = {
  dmPolicy: z
    .enum(DM_POLICIES)
    .default('pairing')
    .describe(
      'Who may write in a direct chat: people who were approved with a code, only those in allowFrom, everybody, or nobody.',
    ),
  allowFrom: z
    .array(AllowedId)
    .max(1_000)
    .default([])
    .describe('People who may write in a direct chat without a code. The policy open needs "*".'),
  approvers: z
    .array(PersonId)
    .max(100)
    .default([])
    .describe('People who may decide about tool calls with the buttons. They must be allowed to write, too.'),
  session: z
    .enum(['chat', 'main'])
    .default('chat')
    .describe('Whether each direct chat has a workstream, or all of them use the main session.'),
  ambiguous: z
    .enum(AMBIGUOUS_POLICIES)
    .default('once')
    .describe('A message that may have arrived: it is not sent again and the chat is told, or it is sent again.'),
};

const ChatFields = z.object(CHAT_FIELDS);
type ChatFields = z.infer<typeof ChatFields>;

/** Why the people of `allowFrom` do not fit the policy. */
export function problemOfPolicy({ dmPolicy, allowFrom }: Pick<ChatFields, 'dmPolicy' | 'allowFrom'>) {
  const isForAll = allowFrom.includes('*');
  if (dmPolicy === 'open' && !isForAll) return 'must contain "*" with dmPolicy open: everybody may then write';
  return dmPolicy !== 'open' && isForAll ? '"*" needs dmPolicy open' : undefined;
}

/** The settings as they are used. */
export const chatSettingsOf = (config: ChatFields): Omit<ChatSettings, 'groups'> => ({
  dmPolicy: config.dmPolicy,
  allowFrom: new Set(config.allowFrom),
  approvers: new Set(config.approvers),
  session: config.session,
  ambiguous: config.ambiguous,
});
