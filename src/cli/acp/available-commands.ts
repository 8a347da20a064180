import type { AvailableCommand, SessionUpdate } from '@agentclientprotocol/sdk';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { COMMANDS, type CommandName, isCommandName } from '../../../protocol/commands.ts';
import type { ProjectCommand } from '../../../protocol/methods/workstream.ts';
import { toTitle } from './tool-calls.ts';

/** They replace or leave the conversation that the editor shows; an editor has its own ways to do that. */
const NOT_OFFERED: readonly CommandName[] = [
  'clear',
  'new',
  'resume',
  'fork',
  'workstreams',
  'history',
  'reason',
  'skill',
];

/** The slash commands that a person can type in a prompt. */
export async function commandsUpdate(client: Pick<GatewayClient, 'call'>, wsId: string): Promise<SessionUpdate> {
  const { commands } = await client.call('workstream.commands', { wsId });
  return { sessionUpdate: 'available_commands_update', availableCommands: [...BUILT_IN, ...commands.map(ofProject)] };
}

const BUILT_IN = Object.keys(COMMANDS)
  .filter(isCommandName)
  .filter((name) => !NOT_OFFERED.includes(name))
  .map((name): AvailableCommand => {
    const { summary, argument } = COMMANDS[name];
    return { name, description: summary, ...(argument !== undefined && { input: { hint: argument } }) };
  });

const ofProject = ({ name, argument, summary }: ProjectCommand): AvailableCommand => ({
  name,
  description: toTitle(summary),
  ...(argument !== undefined && { input: { hint: toTitle(argument) } }),
});
