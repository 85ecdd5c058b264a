// What an eye or a screen reader would find fault with, found by looking at every element of the page: words that hardly
// differ from what is behind them, things to use that are cut off at the side, and all that axe-core knows of.

import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";

type Axe = typeof axe;

/** A folder: every view is put there as it looks, for someone to look at. */
const { SOONG_PICTURES: pictures } = process.env;

/** A desk, a narrow window, and a phone. */
const SIZES = [
  { name: "desk", width: 1440, height: 900 },
  { name: "narrow", width: 800, height: 600 },
  { name: "phone", width: 390, height: 844 },
] as const;

/** Of what is shown now: in light and dark, in every size or in one. */
export async function faultsIn(
  page: Page,
  name: string,
  only?: (typeof SIZES)[number]["name"],
): Promise<string[]> {
  const faults: string[] = [];
  const before = page.viewportSize();
  for (const size of SIZES.filter(({ name }) => only === undefined || only === name)) {
    await page.setViewportSize(size);
    await page.evaluate(twoPictures);
    const cut = await page.evaluate(cutOff);
    faults.push(...cut.map((fault) => `${name}, ${size.name}: ${fault}`));
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      if (pictures !== undefined) {
        const file = `${name.replaceAll(" ", "-")}-${size.name}-${colorScheme}.png`;
        await page.screenshot({ path: join(pictures, file), animations: "disabled" });
      }
      const found = [...(await page.evaluate(hardToRead)), ...(await violationsIn(page))];
      faults.push(...found.map((fault) => `${name}, ${size.name}, ${colorScheme}: ${fault}`));
    }
  }
  if (before !== null) await page.setViewportSize(before);
  return faults;
}

/** What axe-core reports, as sentences. Given to the page from outside, since its policy loads no script of others. */
async function violationsIn(page: Page): Promise<string[]> {
  const isThere = await page.evaluate(() => "axe" in globalThis);
  if (!isThere) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const here = globalThis as typeof globalThis & { axe: Axe };
    const { violations } = await here.axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(" ")}: ${html.slice(0, 120)}`),
    );
  });
}

/** Runs in the page: it has seen its new size, and is drawn for it. */
async function twoPictures(): Promise<void> {
  for (let i = 0; i < 2; i += 1) {
    await new Promise((resolve) => {
      requestAnimationFrame(resolve);
    });
  }
}

/** Runs in the page. Words in sight with less than 4.5 times the contrast, as sentences. */
function hardToRead(): string[] {
  const context = document
    .createElement("canvas")
    .getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
  const known = new Map<string, number[]>();
  const found = new Set<string>();
  for (const element of document.querySelectorAll<HTMLElement>("body *")) {
    const words = [...element.childNodes]
      .filter((node) => node.nodeType === Node.TEXT_NODE)
      .map((node) => node.textContent?.trim() ?? "")
      .join("");
    if (words === "" || !isSeen(element)) continue;
    const back = backOf(element);
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const contrast = contrastOf(over(colour(ink), back), back);
    if (contrast < 4.5) {
      const name = `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""}`;
      found.add(`${name} "${words.slice(0, 30)}": ${contrast.toFixed(2)}`);
    }
  }
  return [...found];

  function isSeen(element: HTMLElement): boolean {
    // What is only there for those who hear it, and what cannot be used now, is held to nothing.
    if (element.closest(".unseen, :disabled, option, title, [inert]") !== null) return false;
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true });
  }

  function backOf(element: Element): number[] {
    const behind: number[][] = [];
    for (let one: Element | null = element; one !== null; one = one.parentElement) {
      if (one instanceof SVGGElement) {
        const box = one.querySelector("rect");
        if (box !== null) behind.push(colour(getComputedStyle(box).fill));
      }
      behind.push(colour(getComputedStyle(one).backgroundColor));
      if ((behind.at(-1)?.[3] ?? 0) === 1) break;
    }
    const canvas = getComputedStyle(document.documentElement).colorScheme === "dark" ? 0 : 255;
    return behind.reduceRight((under, upper) => over(upper, under), [canvas, canvas, canvas, 1]);
  }

  /** Whatever a style may say, as the numbers it comes to. */
  function colour(text: string): number[] {
    let numbers = known.get(text);
    if (numbers === undefined) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = text;
      context.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
      numbers = [red, green, blue, alpha / 255];
      known.set(text, numbers);
    }
    return numbers;
  }

  function over([red = 0, green = 0, blue = 0, alpha = 0]: number[], under: number[]): number[] {
    const mixed = [red, green, blue].map((part, i) => part * alpha + (under[i] ?? 0) * (1 - alpha));
    return [...mixed, 1];
  }

  function contrastOf(one: number[], other: number[]): number {
    const [dark = 0, light = 0] = [lightOf(one), lightOf(other)].toSorted((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }

  function lightOf(numbers: number[]): number {
    const [red = 0, green = 0, blue = 0] = numbers.map((part) => {
      const share = part / 255;
      return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
}

/** Runs in the page. Things to read first or to use that stand outside of the window and cannot be scrolled to within their own part. */
function cutOff(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  const found = scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`] : [];
  for (const part of document.querySelectorAll("main, .view, .side-body, .menu-body, dialog")) {
    if (part.scrollWidth > part.clientWidth + 1) {
      found.push(`${part.className} is ${part.scrollWidth} wide in ${part.clientWidth}`);
    }
  }
  for (const element of document.querySelectorAll("a, button, input, select, h1, h2, [role=tab]")) {
    const { left, right, width } = element.getBoundingClientRect();
    if (width === 0 || (left >= -1 && right <= clientWidth + 1) || isScrolled(element)) continue;
    found.push(`${element.tagName} "${element.textContent?.trim().slice(0, 40)}" ends at ${right}`);
  }
  return found;

  function isScrolled(element: Element): boolean {
    for (let one = element.parentElement; one !== null; one = one.parentElement) {
      const { overflowX } = getComputedStyle(one);
      if ((overflowX === "auto" || overflowX === "scroll") && one.scrollWidth > one.clientWidth) {
        return true;
      }
    }
    return element.closest(".unseen") !== null;
  }
}
