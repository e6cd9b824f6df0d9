// Elements made by script: text goes in as text, never as markup, which Trusted Types would refuse anyway.

export type Child = Node | string | false | undefined;

interface Attributes {
  readonly [name: string]: string | boolean | ((event: Event) => void) | undefined;
}

/** One element: functions become listeners, true an empty attribute; false and undefined are left out. */
export function h(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== false && child !== undefined));
  return element;
}

/** The element of the page that must be there. */
export function found<Found extends Element>(root: ParentNode, selector: string): Found {
  const element = root.querySelector<Found>(selector);
  if (element === null) throw new Error(`expected ${selector} in the page, found none`);
  return element;
}
