import type { Message } from '../message.ts';

/** Present in messages of the daemon. */
export const markOf = (message: Message) => (message.role === 'user' ? message.environment : undefined);
