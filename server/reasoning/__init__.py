"""Models that think before they answer: where their thoughts are, and that constraints begin after them."""
