/** Whether a text fits a pattern in which `*` stands for any characters. Takes linear time: it never backtracks. */
export function fitsStars(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === text;
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false;
  const end = text.length - tail.length;
  let from = head.length;
  return rest.every((part) => {
    const at = text.indexOf(part, from);
    from = at + part.length;
    return at !== -1 && from <= end;
  });
}
