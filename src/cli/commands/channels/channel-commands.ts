import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { ChannelFlags, JsonFlags, LogFlags, PairFlags, TestFlags } from './channels.ts';

interface ChannelCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate channel`, for the chat services from which people write. */
export function addChannelCommands(program: Command, { root, around, withTarget }: ChannelCommandsDeps): void {
  const channel = program.command('channel').description('manage the chat services from which people write');
  const load = () => import('./channels.ts');
  const on = <F extends TargetFlags>(flags: F) => ({ flags, around, root });
  refuseUnknown(channel, withTarget(channel.command('list', { isDefault: true })))
    .description('list the chat services and whether they are connected (the default command)')
    .option('--json', 'print JSON')
    .action(async (flags: JsonFlags) => (await load()).listChannels(on(flags)));
  withTarget(channel.command('login'))
    .description('store the token of a bot, which is read from the terminal or stdin, once the service accepts it')
    .option('--channel <name>', 'chat service', 'telegram')
    .action(async (flags: ChannelFlags) => (await load()).logIn(on(flags)));
  withTarget(channel.command('test'))
    .description('ask a chat service whether it accepts the stored token')
    .option('--channel <name>', 'chat service', 'telegram')
    .option('--json', 'print JSON')
    .action(async (flags: TestFlags) => (await load()).testChannel(on(flags)));
  withTarget(channel.command('senders'))
    .description('list the people who asked to write, were approved or were revoked')
    .option('--json', 'print JSON')
    .action(async (flags: JsonFlags) => (await load()).listSenders(on(flags)));
  withTarget(channel.command('pair'))
    .description('approve a person by the code that the chat gave to this person')
    .argument('<code>', 'code that the person received, such as ABCDE-23456')
    .option('--channel <name>', 'chat service', 'telegram')
    .option('--user <name>', 'user who gets the workstreams of this person (default: the operator)')
    .option('--json', 'print JSON')
    .action(async (code: string, flags: PairFlags) => (await load()).pairSender(code, on(flags)));
  withTarget(channel.command('revoke'))
    .description('end the approval of a person, cancel the answer in progress and drop the messages that wait')
    .argument('<sender>', 'number or name of the person, as listed by "headgate channel senders"')
    .option('--channel <name>', 'chat service', 'telegram')
    .action(async (which: string, flags: ChannelFlags) => (await load()).revokeSender(which, on(flags)));
  withTarget(channel.command('restore'))
    .description('end the revocation of a person, who then gets a new code with the next message')
    .argument('<sender>', 'number or name of the person, as listed by "headgate channel senders"')
    .option('--channel <name>', 'chat service', 'telegram')
    .action(async (which: string, flags: ChannelFlags) => (await load()).restoreSender(which, on(flags)));
  withTarget(channel.command('logs'))
    .description('list the parts of messages that were sent to chats, newest first')
    .option('--limit <n>', 'how many parts, at most 500', '50')
    .option('--json', 'print JSON')
    .action(async (flags: LogFlags) => (await load()).listParts(on(flags)));
}
