"""Dialogues of a user and a teller of little stories, from a grammar.

draw_dialogue(random) returns pairs: what the user says, what is answered. Later
questions are about what came before: names, colours, what happened in a story.
"""

ANIMALS = {
    "fox": ("a den in the forest", "berries", "yip"),
    "bear": ("a cave on the mountain", "honey", "growl"),
    "mouse": ("a hole in the wall", "cheese", "squeak"),
    "owl": ("a hollow tree", "moths", "hoot"),
    "frog": ("a green pond", "flies", "croak"),
    "duck": ("a nest by the lake", "bread", "quack"),
    "cat": ("a little house", "fish", "meow"),
    "dog": ("a hut on a farm", "bones", "woof"),
    "cow": ("a meadow by the river", "grass", "moo"),
    "horse": ("a stable on a farm", "hay", "neigh"),
    "sheep": ("a field on the hill", "clover", "baa"),
    "hen": ("a house of straw", "corn", "cluck"),
    "rabbit": ("a burrow in the field", "carrots", "sniff"),
    "squirrel": ("an old oak", "nuts", "chatter"),
    "hedgehog": ("a heap of leaves", "apples", "snuffle"),
    "crow": ("a tall tower", "seeds", "caw"),
}
PLURALS = {"fox": "foxes", "mouse": "mice", "sheep": "sheep"}
NAMES = ("Anna Ben Clara David Ella Finn Greta Hugo Ida Jonas Kiki Lulu Max Mila "
         "Nora Otto Pip Rosa Sam Tilda Tom Uma Vera Willi Zoe").split()
TRAITS = "small old brave shy clever lazy young friendly curious hungry".split()
COLOURS = "red blue green yellow black white brown golden silver purple".split()
THINGS = "ball kite key boat drum lantern ring map hat scarf bell cup".split()
PLACES = ["under the bridge", "behind the mill", "in the garden", "on the beach",
          "in the forest", "at the well", "on top of the hill", "near the castle",
          "in the tall grass", "beside the river"]
WEATHER = ["the sun was shining", "it was raining", "it was snowing",
           "the wind was cold", "the moon was bright", "it was very hot"]
NUMBERS = ("zero one two three four five six seven eight nine ten eleven "
           "twelve").split()
ANYTHING = {
    "the sun": "The sun is a star. It gives us light.",
    "the moon": "The moon goes around the earth.",
    "rain": "Rain is water that falls from the clouds.",
    "snow": "Snow is made of little flakes of ice.",
    "a tree": "A tree is a tall plant with leaves and roots.",
    "a river": "A river is water that goes to the sea.",
    "a story": "A story is something that I can tell you.",
}
RHYMES = ["a fox in a box", "a bear on a chair", "a mouse in a house",
          "a cat with a hat", "a frog on a log", "a dog in the fog",
          "a hen with a pen", "a sheep fast asleep", "an owl in a towel",
          "a cow in a row", "a crow in the snow", "a duck on a truck"]


def with_article(word):
    return ("an " if word[0] in "aeiou" else "a ") + word


def capital(text):
    return text[0].upper() + text[1:]


def plural(animal):
    return PLURALS.get(animal, animal + "s")


def invent_word(random):
    """A word that means nothing, so that words are copied and not only known."""
    parts = [random.choice("b d f g k l m n p r s t v z bl dr gr pl st".split()) +
             random.choice("a e i o u".split())
             for _ in range(random.choice([1, 2, 2, 3]))]
    return "".join(parts) + random.choice(
        ["", "", "", "n", "r", "l", "k", "s", "m", "t", "x", "rp", "nd", "st", "ck"])


def draw_name(random, known):
    """known: how often it is one of NAMES."""
    return (random.choice(NAMES) if random.random() < known else
            capital(invent_word(random)))


class Story:
    """An animal loses a thing, is hungry, wants to play or gets a gift, and
    meets a friend. tell() also makes the questions that can be asked then."""

    def __init__(self, random, kind, friend, name):
        self.random, self.kind, self.friend, self.name = random, kind, friend, name
        self.home, self.food, _ = ANIMALS.get(
            kind, random.choice(list(ANIMALS.values())))
        self.friend_name = random.choice([n for n in NAMES if n != name])
        self.trait = random.choice(TRAITS)
        self.thing = random.choice(THINGS)
        self.colour = random.choice(COLOURS)
        self.place = random.choice(PLACES)
        self.plot = random.choice([self.lose, self.starve, self.play, self.give])
        self.questions = []

    def quote(self, sentence, *questions):
        """A sentence of the story, which is what answers questions, too."""
        self.questions.append((questions, sentence))
        return sentence

    def say(self, *sentences):
        return self.random.choice(sentences)

    def tell(self):
        kind, name = self.kind, self.name
        begin = self.say("Once upon a time there was", "There once was",
                         "Long ago there was")
        first = self.quote(f"The {kind} was called {name}.",
                           f"What was the {kind} called?",
                           f"What was the name of the {kind}?")
        second = self.quote(f"{name} lived in {self.home}.",
                            f"Where did {name} live?",
                            f"Where did the {kind} live?")
        day = self.say("One day", "One morning", "One evening")
        return " ".join([
            f"{begin} {with_article(self.trait)} {kind}.", first, second,
            self.plot(f"{day} {self.random.choice(WEATHER)}."), self.end()])

    def meet(self):
        friend = self.friend
        return " ".join([
            self.quote(f"{self.name} met {with_article(friend)}.",
                       f"Which animal did {self.name} meet?",
                       f"Which animal did the {self.kind} meet?"),
            self.quote(f"The {friend} was called {self.friend_name}.",
                       f"What was the {friend} called?",
                       f"What was the name of the {friend}?")])

    def lose(self, day):
        name, thing, place = self.name, self.thing, self.place
        other = self.random.choice([p for p in PLACES if p != place])
        lost = self.quote(f"{name} had lost {with_article(self.colour)} {thing}.",
                          f"What had {name} lost?", f"What did {name} lose?")
        self.questions.append(([f"What colour was the {thing}?"],
                               f"The {thing} was {self.colour}."))
        return " ".join([
            day, lost,
            self.say(f"{name} looked {other}, but there was no {thing}.",
                     f"There was no {thing} {other}, and {name} was sad."),
            self.meet(),
            self.say(f'"I know where it is," said {self.friend_name}.',
                     f'"I will help you," said {self.friend_name}.'),
            self.quote(f"They found the {thing} {place}.",
                       f"Where did they find the {thing}?",
                       f"Where was the {thing}?")])

    def starve(self, day):
        name, food = self.name, self.food
        return " ".join([
            day, self.say(f"{name} was hungry.", f"{name} had no food."),
            self.quote(f"{name} wanted to eat {food}.",
                       f"What did {name} want to eat?",
                       f"What did the {self.kind} want to eat?"),
            self.meet(),
            self.say(f'"Come with me," said {self.friend_name}.',
                     f'"I can show you a place," said {self.friend_name}.'),
            self.quote(f"They found a lot of {food} {self.place}.",
                       f"Where did they find {food}?",
                       "Where did they find food?")])

    def play(self, day):
        name, friend = self.name, self.friend_name
        winner = self.random.choice([name, friend])
        return " ".join([
            day, self.say(f"{name} was bored and wanted to play.",
                          f"{name} wanted to play, but was alone."),
            self.meet(),
            self.say(f'"Let us run a race," said {friend}.',
                     f'"Are you fast?" asked {friend}.'),
            self.say("They ran and ran.", "They ran as fast as they could."),
            self.quote(f"{winner} won the race.", "Which of them won the race?",
                       "Which of them was faster?")])

    def give(self, day):
        name, thing, friend = self.name, self.thing, self.friend_name
        return " ".join([
            day, self.say(f"It was the birthday of {name}, but {name} was alone.",
                          f"It was the birthday of {name}, and {name} was glad."),
            self.meet(),
            self.say(f'"This is for you," said {friend}.',
                     f'"Happy birthday!" said {friend}.'),
            self.quote(f"{friend} gave {name} {with_article(self.colour)} {thing}.",
                       f"What did {friend} give {name}?", f"What did {name} get?")])

    def end(self):
        name, friend = self.name, self.friend_name
        self.questions.append(([f"Was {name} happy at the end?",
                                "Did it end well?"],
                               f"Yes, {name} was very happy."))
        return self.say(
            f"{name} was very happy, and they became good friends.",
            f'"Thank you!" said {name}. From that day on they were friends.',
            f"In the evening {name} and {friend} sat together and were happy.",
            f"{name} and {friend} went home together and sang a song.")


class Dialogue:
    def __init__(self, random):
        self.random = random
        self.turns = []
        self.name = self.colour = self.animal = self.story = None

    def add(self, user, *answers):
        if self.random.random() < 0.25:
            user = user.rstrip(".?!")
            user = user[0].lower() + user[1:]
        self.turns.append((user, self.random.choice(answers)))

    def one_of(self, *questions):
        return self.random.choice(questions)

    def greet(self):
        name = f", {self.name}" if self.name else ""
        if self.random.random() < 0.6:
            self.add(self.one_of("Hello!", "Hello.", "Hi!", "Good morning.",
                                 "Good evening."),
                     f"Hello{name}! What can I do for you?",
                     f"Hello{name}! Shall I tell you a story?")
        else:
            self.add(self.one_of("How are you?", "How are you today?"),
                     "I am well, thank you. How are you?",
                     "I am fine, thank you.")

    def introduce(self):
        self.name = draw_name(self.random, 0.3)
        self.add(self.one_of(f"My name is {self.name}.", f"I am {self.name}.",
                             f"I am called {self.name}."),
                 f"Hello, {self.name}! That is a nice name.",
                 f"Nice to meet you, {self.name}!")

    def ask_name(self):
        self.add(self.one_of("What is my name?", "Do you know my name?",
                             "What am I called?"),
                 f"Your name is {self.name}." if self.name else
                 "You have not told me your name.")

    def like(self):
        if self.random.random() < 0.5:
            self.colour = self.random.choice(COLOURS)
            self.add(self.one_of(f"My favourite colour is {self.colour}.",
                                 f"I like the colour {self.colour}."),
                     f"{capital(self.colour)} is a beautiful colour.",
                     f"I like {self.colour}, too.")
        else:
            self.animal = self.random.choice(list(ANIMALS))
            many = plural(self.animal)
            self.add(self.one_of(f"I like {many}.", f"I love {many}."),
                     f"I like {many}, too. Shall I tell you a story about "
                     f"{with_article(self.animal)}?",
                     f"{capital(many)} are nice animals.")

    def ask_liking(self):
        if self.random.random() < 0.5:
            self.add("What is my favourite colour?",
                     f"Your favourite colour is {self.colour}." if self.colour
                     else "You have not told me your favourite colour.")
        else:
            self.add("Which animals do I like?",
                     f"You like {plural(self.animal)}." if self.animal else
                     "You have not told me which animals you like.")

    def tell(self):
        random = self.random
        kind, friend = random.sample(list(ANIMALS), 2)
        name = draw_name(random, 0.7)
        begin = self.one_of("Tell me a story about", "Tell me another story about",
                            "I want to hear a story about",
                            "Do you know a story about")
        asked = random.random()
        if asked < 0.2:
            user = self.one_of("Tell me a story", "Tell me another story",
                               "I want to hear a story", "Yes, tell me a story")
        elif asked < 0.55:
            user = f"{begin} {with_article(kind)}"
        elif asked < 0.7:
            kind = invent_word(random)
            user = f"{begin} {with_article(kind)}"
        else:
            name = draw_name(random, 0.4)
            user = f"{begin} {with_article(kind)} called {name}"
        self.story = Story(random, kind, friend, name)
        self.add(user + ("?" if user.startswith("Do") else "."), self.story.tell())

    def ask_story(self):
        if not self.story:
            self.add(self.one_of("What was the story about?",
                                 "What happened in the story?"),
                     "I have not told you a story. Shall I tell you one?")
            return
        questions, answer = self.random.choice(self.story.questions)
        self.add(self.random.choice(questions), answer)

    def ask_animal(self):
        kind = self.random.choice(list(ANIMALS))
        home, food, sound = ANIMALS[kind]
        animal = with_article(kind)
        question, answer = self.random.choice([
            (f"What does {animal} eat?", f"{capital(animal)} eats {food}."),
            (f"What do {plural(kind)} eat?", f"{capital(plural(kind))} eat {food}."),
            (f"What does {animal} say?", f'{capital(animal)} says "{sound}".'),
            (f"Where does {animal} live?", f"You find {animal} in {home}."),
            (f"What is {animal}?", f"{capital(animal)} is an animal. It eats {food}.")])
        self.add(question, answer)

    def ask_anything(self):
        if self.random.random() < 0.3:
            word = self.random.choice(list(ANYTHING))
            self.add(f"What is {word}?", ANYTHING[word])
        else:
            word = with_article(invent_word(self.random))
            self.add(f"What is {word}?", f"I do not know what {word} is.",
                     f"I have never heard of {word}.")

    def repeat(self):
        words = [self.random.choice([invent_word(self.random), capital(invent_word(
            self.random)), self.random.choice(NAMES), self.random.choice(COLOURS)])
            for _ in range(self.random.randrange(1, 6))]
        self.turns.append(("Say " + " ".join(words), " ".join(words)))

    def count(self):
        random = self.random
        first = random.randrange(0, 8)
        last = random.randrange(first + 2, 13)
        if random.random() < 0.4:
            if random.random() < 0.5:
                first = 1
            begin = "Count to" if first == 1 else f"Count from {NUMBERS[first]} to"
            self.add(f"{begin} {NUMBERS[last]}.",
                     capital(", ".join(NUMBERS[first:last + 1])) + ".")
        elif random.random() < 0.5:
            self.add(f"What comes after {NUMBERS[last - 1]}?",
                     f"After {NUMBERS[last - 1]} comes {NUMBERS[last]}.")
        else:
            a = random.randrange(1, 7)
            b = random.randrange(1, 7)
            self.add(f"How much is {NUMBERS[a]} and {NUMBERS[b]}?",
                     f"{capital(NUMBERS[a])} and {NUMBERS[b]} make {NUMBERS[a + b]}.")

    def rhyme(self):
        parts = self.random.sample(RHYMES, 4)
        self.add(self.one_of("Tell me a rhyme.", "Do you know a rhyme?",
                             "Can you make a rhyme?"),
                 capital(", ".join(parts[:3])) + " and " + parts[3] + ".")

    def chat(self):
        user, *answers = self.random.choice([
            ("Thank you!", "You are welcome!"), ("Thank you.", "You are welcome!"),
            ("What can you do?", "I can tell stories and rhymes, count, and answer "
             "questions about animals."),
            ("What are you?", "I am a little network that tells stories."),
            ("What is your name?", "I have no name. What is yours?"),
            ("I am sad.", "I am sorry to hear that. Shall I tell you a story?"),
            ("I am happy.", "That is good to hear!"),
            ("I am tired.", "Then it is time for a story. Good night!"),
            ("That was a nice story.", "Thank you! Shall I tell you another one?"),
            ("Are you a robot?", "No, I am a little network in a computer.")])
        self.add(user, *answers)

    def part(self):
        name = f", {self.name}" if self.name else ""
        self.add(self.one_of("Goodbye.", "Goodbye!", "Bye!", "Good night."),
                 f"Goodbye{name}!", f"Goodbye{name}! Come back soon.")


def draw_dialogue(random):
    dialogue = Dialogue(random)
    kinds = [(dialogue.greet, 1), (dialogue.introduce, 3), (dialogue.ask_name, 3),
             (dialogue.like, 2), (dialogue.ask_liking, 2), (dialogue.tell, 4),
             (dialogue.ask_story, 8), (dialogue.ask_animal, 2),
             (dialogue.ask_anything, 3), (dialogue.repeat, 3),
             (dialogue.count, 2), (dialogue.rhyme, 1), (dialogue.chat, 2)]
    turns, weights = zip(*kinds)
    if random.random() < 0.5:
        dialogue.greet()
    for _ in range(random.randrange(3, 16)):
        turn = random.choices(turns, weights)[0]
        # Mostly, questions are about what was told before.
        if random.random() < 0.8:
            if turn == dialogue.ask_story and not dialogue.story:
                turn = dialogue.tell
            elif turn == dialogue.ask_name and not dialogue.name:
                turn = dialogue.introduce
            elif turn == dialogue.ask_liking and not (dialogue.colour and
                                                      dialogue.animal):
                turn = dialogue.like
        turn()
    if random.random() < 0.5:
        dialogue.part()
    return dialogue.turns
