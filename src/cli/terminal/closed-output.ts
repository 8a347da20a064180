import { EXIT } from '../../exit-codes.ts';

const leave = () => process.exit(EXIT.readerGone);
const outputs = () => [process.stdout, process.stderr];

/** Ends the command when the program that reads its output closes the pipe. */
export function endWithReader(): void {
  for (const output of outputs()) output.on('error', leave);
}

/** For a command whose work is not its output. */
export function goOnWithoutReader(): void {
  for (const output of outputs()) output.off('error', leave).on('error', () => undefined); // nobody reads it
}
