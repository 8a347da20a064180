import type { ParamsInput } from '../../../protocol/index.ts';

/** A conversation to import. */
export const sampleConversation = (): ParamsInput<'workstream.import'>['conversation'] => ({
  format: 'headgate-conversation',
  version: 1,
  name: 'garden',
  messages: [
    { role: 'user', createdMs: 1, content: 'hi' },
    { role: 'assistant', createdMs: 2, content: 'hello', toolCalls: [] },
  ],
});
