// How the demo speaks: a title for each part, one line for each thing that happened.

export function title(text: string): void {
  console.log(`\n${text}\n${'-'.repeat(text.length)}`);
}

export function say(text: string): void {
  console.log(`  ${text}`);
}
