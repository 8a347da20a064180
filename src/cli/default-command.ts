import type { Command } from 'commander';

/**
 * Reports an unknown word after the name of a group as an unknown command. Commander itself would report it as an excess
 * argument of the group's default command (`isDefault`).
 */
export function refuseUnknown(group: Command, byDefault: Command): Command {
  return byDefault.allowExcessArguments().hook('preAction', () => {
    const [word] = byDefault.args;
    if (word === undefined) return;
    if (group.args[0] === byDefault.name()) byDefault.error(`error: ${byDefault.name()} takes no argument: '${word}'`);
    const names = group.commands.map((command) => command.name()).join(', ');
    group.error(`error: unknown command '${word}' (available: ${names})`, { code: 'commander.unknownCommand' });
  });
}
